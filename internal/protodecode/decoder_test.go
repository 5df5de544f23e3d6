package protodecode

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// message builds the bytes of a message by hand.
type message []byte

func (m message) bytes(number protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, number, protowire.BytesType), b)
}

func (m message) varint(number protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), v)
}

// meta and spec are fields of a pod, and of most other objects.
const meta, spec = 1, 2

// The generated code decodes bytes that no API server sends.
func TestDecode_OddBytes(t *testing.T) {
	name := message(nil).bytes(1, []byte("a"))
	good := message(nil).bytes(meta, name)
	specOf := func(m message) message { return slices.Clone(good).bytes(spec, m) }
	container := message(nil).bytes(1, []byte("c"))
	for what, data := range map[string]message{
		"a message that occurs twice":       slices.Clone(good).bytes(meta, message(nil).bytes(3, []byte("ns"))),
		"a list in two parts":               specOf(message(nil).bytes(2, container).varint(4, 1).bytes(2, container)),
		"a map in two parts":                message(nil).bytes(meta, message(nil).bytes(11, nil).bytes(1, []byte("a")).bytes(11, nil)),
		"a wrong wire type":                 message(nil).varint(meta, 1),
		"a wrong wire type of a number":     specOf(message(nil).bytes(4, []byte("x"))),
		"a cut length":                      good[:len(good)-1],
		"a cut tag":                         append(slices.Clone(good), 0x80),
		"a length beyond the end":           append(protowire.AppendTag(slices.Clone(good), spec, protowire.BytesType), 0xff, 0xff, 0xff, 0xff, 0x07),
		"a negative length":                 append(protowire.AppendTag(slices.Clone(good), spec, protowire.BytesType), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
		"the number zero":                   append(slices.Clone(good), 0x02, 0x00),
		"a tag that is too long":            append(message{0x8a, 0x00}, good[1:]...),
		"a group":                           append(slices.Clone(good), 0xfb, 0x06, 0xfc, 0x06),
		"an end of a group":                 append(slices.Clone(good), 0xfc, 0x06),
		"a varint that never ends":          append(protowire.AppendTag(slices.Clone(good), 99, protowire.VarintType), bytes.Repeat([]byte{0xff}, 12)...),
		"an invalid quantity":               specOf(message(nil).bytes(32, message(nil).bytes(1, []byte("cpu")).bytes(2, message(nil).bytes(1, []byte("x"))))),
		"a quantity with an unknown field":  specOf(message(nil).bytes(32, message(nil).bytes(1, []byte("cpu")).bytes(2, message(nil).bytes(1, []byte("1")).varint(7, 7)))),
		"a map entry with an unknown field": message(nil).bytes(meta, message(nil).bytes(11, message(nil).bytes(1, []byte("k")).varint(7, 7))),
		"a map entry with two keys":         message(nil).bytes(meta, message(nil).bytes(11, message(nil).bytes(1, []byte("k")).bytes(1, []byte("l")))),
	} {
		t.Run(what, func(t *testing.T) {
			d := New(podType, Options{Table: share.New(0), Values: true})
			theirs, theirErr := guarded(podType, data, nil)
			ours, err := d.Decode(data)
			require.Equal(t, theirErr == nil, err == nil, "%v, %v", theirErr, err)
			if err == nil {
				requireEqual(t, theirs, ours)
			}
			require.False(t, planned(d, data))
		})
	}
}

// Unusual but well-formed bytes are decoded without the generated code.
func TestDecode_UnusualBytes(t *testing.T) {
	specOf := func(m message) message { return message(nil).bytes(spec, m) }
	entry := message(nil).bytes(1, []byte("k"))
	for what, data := range map[string]message{
		"nothing":                     {},
		"an empty message":            message(nil).bytes(meta, nil),
		"an unknown field":            message(nil).bytes(meta, message(nil).bytes(1, []byte("a")).bytes(200, []byte("?"))).varint(99, 1),
		"unknown fixed numbers":       append(protowire.AppendTag(nil, 90, protowire.Fixed32Type), 1, 2, 3, 4),
		"a string twice":              message(nil).bytes(meta, message(nil).bytes(1, []byte("a")).bytes(1, []byte("b"))),
		"a number twice":              specOf(message(nil).varint(4, 1).varint(5, 1).varint(4, 2)),
		"a map entry without a value": message(nil).bytes(meta, message(nil).bytes(11, entry)),
		"a map entry without a key":   message(nil).bytes(meta, message(nil).bytes(11, message(nil).bytes(2, []byte("v")))),
		"an empty map entry":          message(nil).bytes(meta, message(nil).bytes(11, nil)),
		"a key twice":                 message(nil).bytes(meta, message(nil).bytes(11, entry).bytes(11, slices.Clone(entry).bytes(2, []byte("v")))),
		"a quantity without a text":   specOf(message(nil).bytes(32, slices.Clone(entry).bytes(2, nil))),
		"a missing quantity":          specOf(message(nil).bytes(32, entry)),
		"packed numbers":              specOf(message(nil).bytes(14, message(nil).bytes(4, []byte{1, 2, 0x80, 1}))),
		"empty packed numbers":        specOf(message(nil).bytes(14, message(nil).bytes(4, nil))),
		"a negative number":           specOf(message(nil).varint(4, 1<<64-1)),
		"an empty list of messages":   specOf(message(nil).bytes(2, nil)),
		"bytes that are not UTF-8":    message(nil).bytes(meta, message(nil).bytes(1, []byte{0xff, 0xfe})),
		"a time without seconds":      message(nil).bytes(meta, message(nil).bytes(8, message(nil).varint(2, 5)).bytes(9, nil)),
	} {
		t.Run(what, func(t *testing.T) {
			d := New(podType, Options{})
			theirs, err := generated(podType, data, nil)
			require.NoError(t, err)
			ours, err := d.Decode(data)
			require.NoError(t, err)
			requireEqual(t, theirs, ours)
			require.True(t, planned(d, data))
		})
	}
}

func TestDecode_Depth(t *testing.T) {
	nested := func(n int) message {
		m := message(nil)
		for range n {
			m = message(nil).bytes(1, m)
		}
		return m
	}
	kind := reflect.TypeFor[deep]()
	d := New(kind, Options{})
	object, err := d.Decode(nested(deepest - 1))
	require.NoError(t, err)
	require.NotNil(t, object.(*deep).Below.Below)
	require.True(t, planned(d, nested(deepest-1)))
	_, err = d.Decode(nested(deepest + 1))
	require.ErrorIs(t, err, ErrTooDeep)
	object, err = d.Decode(bytes.Repeat(message(nil).bytes(2, nil), 2*deepest))
	require.NoError(t, err)
	require.Len(t, object.(*deep).List, 2*deepest, "a long list is not deep nesting")
}

// planned reports whether a decoder decodes an object by the plan of its type.
func planned(d *Decoder, data []byte) bool {
	_, ended := d.byPlan(data)
	return ended == endGood
}

// broken is an unsupported type whose Unmarshal panics.
type broken struct{ hidden int }

func (b *broken) Unmarshal(data []byte) error {
	b.hidden = int(data[0])
	return nil
}

func TestDecode_Errors(t *testing.T) {
	_, err := New(reflect.TypeFor[struct{}](), Options{}).Decode(nil)
	require.ErrorIs(t, err, ErrNotProto)
	_, err = New(reflect.TypeFor[string](), Options{}).Decode(nil)
	require.ErrorIs(t, err, ErrNotProto)
	d := New(reflect.TypeFor[broken](), Options{})
	object, err := d.Decode([]byte{7})
	require.NoError(t, err)
	require.Equal(t, &broken{7}, object)
	_, err = d.Decode(nil)
	require.ErrorIs(t, err, ErrPanic)
	require.False(t, planned(d, []byte{7}))
}

func TestDecode_Drop(t *testing.T) {
	drop, err := fields.Parse("metadata.managedFields", "metadata.annotations", "spec.containers.env", "spec.volumes.configMap",
		"spec.priority", "spec.schedulerName", "status.conditions")
	require.NoError(t, err)
	want := siblingPod(3)
	want.ManagedFields, want.Annotations, want.Spec.Priority, want.Spec.SchedulerName, want.Status.Conditions = nil, nil, nil, "", nil
	for i := range want.Spec.Containers {
		want.Spec.Containers[i].Env = nil
	}
	want.Spec.Volumes[0].ConfigMap = nil // the volume's source is inlined
	data := encode(t, siblingPod(3))
	for what, data := range map[string][]byte{"well-formed": data, "odd": append(slices.Clone(data), 0x12, 0x00)} {
		t.Run(what, func(t *testing.T) {
			d := New(podType, Options{Table: share.New(0), Values: true, Drop: drop})
			for range 3 {
				got, err := d.Decode(data)
				require.NoError(t, err)
				requireEqual(t, want, got)
			}
		})
	}
}

// The keys of maps count as field names.
func TestDecode_DropInMaps(t *testing.T) {
	drop, err := fields.Parse("spec.devices.capacity.c.requestPolicy")
	require.NoError(t, err)
	object := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{{
		Name: "d", Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"c": {RequestPolicy: &resourcev1.CapacityRequestPolicy{}}},
	}}}}
	data := encode(t, object)
	for what, data := range map[string][]byte{"well-formed": data, "odd": append(slices.Clone(data), 0x12, 0x00)} {
		t.Run(what, func(t *testing.T) {
			got, err := New(reflect.TypeFor[resourcev1.ResourceSlice](), Options{Drop: drop}).Decode(data)
			require.NoError(t, err)
			capacity := got.(*resourcev1.ResourceSlice).Spec.Devices[0].Capacity
			require.Contains(t, capacity, resourcev1.QualifiedName("c"))
			require.Nil(t, capacity["c"].RequestPolicy)
		})
	}
}

// Decoders that drop different fields never share values, even if they have the same table.
func TestDecode_DropAndOneTable(t *testing.T) {
	drop, err := fields.Parse("spec.containers.env.value")
	require.NoError(t, err)
	table, data := share.New(0), encode(t, siblingPod(1))
	whole, less := New(podType, Options{Table: table, Values: true}), New(podType, Options{Table: table, Values: true, Drop: drop})
	for range 4 {
		a, err := whole.Decode(data)
		require.NoError(t, err)
		b, err := less.Decode(data)
		require.NoError(t, err)
		require.NotEmpty(t, a.(*corev1.Pod).Spec.Containers[0].Env[2].Value)
		require.Empty(t, b.(*corev1.Pod).Spec.Containers[0].Env[2].Value)
	}
}

// allocated returns the number of bytes that a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The memory allocated for an input is at most its length times the size of the largest value that two
// bytes can encode.
func TestDecode_AllocatesForWhatHasArrived(t *testing.T) {
	const entries = 50_000
	specOf := func(m message) message { return message(nil).bytes(spec, m) }
	repeat := func(n protowire.Number) message { return bytes.Repeat(message(nil).bytes(n, nil), entries) }
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x07}
	largest := uint64(reflect.TypeFor[corev1.Container]().Size())
	for what, c := range map[string]struct {
		data message
		most uint64
	}{
		"an announced string": {message(nil).bytes(meta, append(message{0x0a}, huge...)), 1 << 16},
		"an announced list":   {specOf(append(message{0x12}, huge...)), 1 << 16},
		"announced numbers":   {specOf(message(nil).bytes(14, append(message{0x22}, huge...))), 1 << 16},
		"empty labels":        {message(nil).bytes(meta, repeat(11)), 1 << 16},
		"empty strings":       {message(nil).bytes(meta, repeat(14)), entries * 16 * 2},
		"empty containers":    {specOf(repeat(2)), entries * largest * 2},
		"unknown fields":      {specOf(repeat(999)), 1 << 16},
	} {
		t.Run(what, func(t *testing.T) {
			d := New(podType, Options{Table: share.New(0), Values: true})
			_, _ = d.Decode(nil) // makes the plans
			require.LessOrEqual(t, allocated(func() { _, _ = d.Decode(c.data) }), c.most)
		})
	}
}

// Decoders and their plans are safe for concurrent use.
func TestDecode_Concurrently(t *testing.T) {
	data, want := encode(t, siblingPod(1)), siblingPod(1)
	for name, o := range map[string]Options{"plain": {}, "shared": {Table: share.New(0), Values: true}} {
		t.Run(name, func(t *testing.T) {
			d := New(podType, o)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range 20 {
						got, err := d.Decode(data)
						if err != nil || fmt.Sprint(got.(*corev1.Pod).Labels) != fmt.Sprint(want.Labels) {
							t.Errorf("%v, %v", got, err)
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// holder is a message with a field of an unknown type.
type holder struct {
	Inner inner `protobuf:"bytes,1,opt,name=inner"`
}

type inner struct {
	Broken broken   `protobuf:"bytes,1,opt,name=broken"`
	Names  []string `protobuf:"bytes,2,rep,name=names"`
}

func (*holder) Unmarshal([]byte) error { return nil }
func (*inner) Unmarshal([]byte) error  { return nil }

// Values of unknown types are not shared, because their methods may write into them.
func TestPlans_UnknownTypesAreNotShared(t *testing.T) {
	field := build(reflect.TypeFor[holder](), nil).fields[1]
	require.Equal(t, reachSolid, field.reach)
	require.Equal(t, reachShared, field.sub.fields[2].reach)
	require.Equal(t, formForeign, field.sub.fields[1].sub.form)
}

// The test lists the built-in types that decode themselves, so that a new one is noticed.
func TestPlans_OfBuiltInTypes(t *testing.T) {
	foreign, unknown := map[string]bool{}, map[string]bool{}
	seen := map[*plan]bool{}
	var visit func(p *plan)
	visit = func(p *plan) {
		if seen[p] {
			return
		}
		seen[p] = true
		if p.form == formForeign {
			foreign[p.typ.String()] = true
		}
		for i := range p.fields {
			if p.fields[i].kind == kindUnknown {
				unknown[fmt.Sprint(p.typ, " ", i)] = true
			}
			if p.fields[i].sub != nil {
				visit(p.fields[i].sub)
			}
		}
	}
	for _, kind := range kinds() {
		visit(build(kind, nil))
	}
	require.Empty(t, unknown, "the generated code decodes whole objects with these fields")
	require.Equal(t, map[string]bool{"v1.ExtraValue": true, "v1beta1.ExtraValue": true, "v1.AttestationValue": true}, foreign)
}
