package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

var errGarbage = errors.New("garbage")

// decoded is a decoded object of the kinds in these tests: just its bytes and form.
type decoded struct {
	text string
	form Form
}

// newTexts returns a kind of texts, without a budget. The metadata of a text is its first word.
func newTexts() *Kind {
	return newKind(NewBudget(0))
}

func newKind(b *Budget) *Kind {
	return NewKind(Options{
		Type: reflect.TypeFor[*decoded](), Budget: b, Weigh: func(v any) int64 { return 3 * int64(len(v.(*decoded).text)) },
		Decode: func(data []byte, f Form) (any, error) {
			if bytes.HasPrefix(data, []byte("garbage")) {
				return nil, errGarbage
			}
			return &decoded{string(data), f}, nil
		},
		Meta: func(data []byte, _ Form) (any, error) {
			first, _, _ := bytes.Cut(data, []byte(" "))
			return string(first), nil
		},
	})
}

// text returns random bytes without hex digits.
func text(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('g' + r.IntN(20))
	}
	return b
}

// sibling returns the bytes of another object of a family: the template with one changed byte, a number and a
// random ID.
func sibling(r *rand.Rand, template []byte, i int) []byte {
	b := bytes.Clone(template)
	if len(b) > 0 {
		b[r.IntN(len(b))]++
	}
	return fmt.Appendf(b, " number %d, id %016x", i, r.Uint64())
}

func pack(t testing.TB, k *Kind, namespace, name string, data []byte) *Object {
	t.Helper()
	o, err := k.Pack(namespace, name, data, Event)
	require.NoError(t, err)
	return o
}

func requireBytes(t testing.TB, want []byte, o *Object) {
	t.Helper()
	got, err := o.unpack(nil, &baseData{})
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func object(base *Object, blob *uint32) *Object { return &Object{base: base, blob: blob} }

func isRaw(o *Object) bool { return o.header()&rawBit != 0 }

func TestAnObjectIsThreeWords(t *testing.T) {
	require.EqualValues(t, 3*unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(Object{}))
}

func TestForms(t *testing.T) {
	k := newTexts()
	for _, form := range []Form{Event, Item, Marshalled} {
		for name, data := range map[string]string{"raw": "ab", "web-0": strings.Repeat("ab cd ", 9), "web-1": strings.Repeat("ab cd ", 8)} {
			o, err := k.Pack("n", name, []byte(data), form)
			require.NoError(t, err)
			require.Equal(t, name == "raw", isRaw(o))
			v, err := o.Value(Nowhere)
			require.NoError(t, err)
			require.Equal(t, &decoded{data, form}, v)
			again, err := o.Value(Nowhere)
			require.NoError(t, err)
			require.NotSame(t, v, again)
			m, err := o.Meta()
			require.NoError(t, err)
			require.Equal(t, "ab", m)
		}
	}
}

func TestReadsThatFail(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 7))
	_, err := pack(t, k, "n", "web-0", []byte("garbage of any kind")).Value(Nowhere)
	require.ErrorIs(t, err, errGarbage)

	template := text(r, 1000)
	base := pack(t, k, "n", "db-0", template)
	o := pack(t, k, "n", "db-1", sibling(r, template, 1))
	garbage := newBlob([]byte("\xff"), 0)
	broken := object(o.base, garbage)
	ofBroken := object(object(&k.current.root, garbage), o.blob)
	for name, o := range map[string]*Object{"object": broken, "base": ofBroken} {
		for range 3 {
			_, err = o.unpack(nil, &baseData{})
			require.ErrorIs(t, err, ErrDamaged, name)
			_, err = o.Value(Nowhere)
			require.ErrorIs(t, err, ErrDamaged, name)
			_, err = o.Meta()
			require.ErrorIs(t, err, ErrDamaged, name)
		}
	}
	base.blob = garbage
	for range maxMisfits {
		_, err = k.Pack("n", "db-2", template, Event)
		require.ErrorIs(t, err, ErrDamaged)
	}
	requireBytes(t, template, pack(t, k, "n", "db-3", template)) // the family has a new base
	runtime.KeepAlive(base)
}

func TestVerifyModeChecksPackedObjects(t *testing.T) {
	on := verify.On
	verify.On = true
	t.Cleanup(func() { verify.On = on })
	k, r := newTexts(), rand.New(rand.NewPCG(1, 12))
	template := text(r, 1000)
	base := pack(t, k, "n", "web-0", template)
	for range 3 { // so that the base is cached
		pack(t, k, "n", "web-1", sibling(r, template, 1))
	}
	base.blob = newBlob(text(r, 1000), rawBit)
	for i := range k.readCache.slots {
		k.readCache.slots[i].kept.Store(nil)
	}
	require.Panics(t, func() { _, _ = k.Pack("n", "web-2", sibling(r, template, 2), Event) })
	runtime.KeepAlive(base)
}

func TestPinnedObjects(t *testing.T) {
	k := newTexts()
	for _, obj := range []any{&decoded{text: "any"}, kit.Pod("a", "1"), 7, nil} {
		o := k.Pin(obj)
		require.True(t, o.IsPinned())
		require.EqualValues(t, unsafe.Sizeof(*o), o.Size())
		for _, read := range []func() (any, error){func() (any, error) { return o.Value(Main) }, o.Meta} {
			v, err := read()
			require.NoError(t, err)
			require.Equal(t, obj, v)
		}
	}
}

// FuzzKind packs, replaces and removes random objects of a few families, and compares them with the plain bytes.
func FuzzKind(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		k, plain := newTexts(), map[string][]byte{}
		objects := map[string]*Object{}
		templates := [4][]byte{}
		fixed := rand.New(rand.NewPCG(1, 9))
		for i := range templates {
			templates[i] = text(fixed, 100<<i)
		}
		for more() {
			namespace, family := fmt.Sprintf("n%d", r.IntN(2)), r.IntN(len(templates))
			name := fmt.Sprintf("w%d-%d", family, r.IntN(8))
			key := namespace + "/" + name
			switch n := r.IntN(64); {
			case n < 8:
				delete(plain, key)
				delete(objects, key)
			case n < 12:
				templates[family] = text(fixed, r.IntN(2000))
			case n == 12:
				runtime.GC() // removes bases, and so families
			default:
				data := sibling(fixed, templates[family], r.IntN(100))
				o, err := k.Pack(namespace, name, data, Form(r.IntN(3)))
				require.NoError(t, err)
				plain[key], objects[key] = data, o
			}
			k.check(t)
			if o := objects[key]; o != nil {
				requireBytes(t, plain[key], o)
			}
		}
		for key, o := range objects {
			requireBytes(t, plain[key], o)
		}
	})
}

// check fails if a cached base differs from its object, or if the sizes do not add up.
func (k *Kind) check(t *testing.T) {
	t.Helper()
	for _, s := range []*baseCache{&k.readCache, &k.packCache} {
		var sum int64
		for i := range s.slots {
			if b := s.slots[i].kept.Load(); b != nil {
				sum += b.size()
				if base := b.object.Value(); base != nil {
					requireBytes(t, b.data, base)
				}
			}
		}
		require.Equal(t, sum, s.bytes.Load())
		require.LessOrEqual(t, sum, int64(maxCacheBytes))
	}
	require.Less(t, k.Size(), int64(1_500_000+2*familySize*len(k.families.byHash)))
}

// TestAnyGoroutineMayUseAKind packs and reads at the same time. All readers compare objects with the plain bytes.
func TestAnyGoroutineMayUseAKind(t *testing.T) {
	k := newTexts()
	const families, each = 100, 20
	type packed struct {
		data   []byte
		object *Object
	}
	all := make(chan packed, families*each)
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(g)))
			for i := range families * each / 2 {
				name := fmt.Sprintf("w%d-%d", i%families, i)
				data := sibling(r, bytes.Repeat([]byte(name[:3]), 500), i)
				o, err := k.Pack("n", name, data, Event)
				assert.NoError(t, err)
				k.Count(o, 1)
				all <- packed{data, o}
			}
		})
	}
	for range 4 {
		wg.Go(func() {
			var buffer []byte
			var spare baseData
			for range families * each / 2 {
				p := <-all
				v, err := p.object.Value(Nowhere)
				assert.NoError(t, err)
				assert.Equal(t, string(p.data), v.(*decoded).text)
				buffer, err = p.object.unpack(buffer[:0], &spare)
				assert.NoError(t, err)
				assert.Equal(t, string(p.data), string(buffer))
				_ = k.Size() + k.Stored()
				all <- p
			}
		})
	}
	wg.Wait()
	k.check(t)
}

func TestPodsPackSmall(t *testing.T) {
	for _, c := range []struct{ each, most int64 }{{100, 210}, {5, 320}} {
		k, size, pod := newTexts(), int64(0), workloads(int(c.each))
		for i := range 500 {
			e := encode(t, pod(i))
			o := pack(t, k, e.namespace, e.name, e.data)
			requireBytes(t, e.data, o)
			size += o.Size()
		}
		require.Less(t, size/500, c.most, "packed bytes of a pod of 5,200 bytes, with %d pods in a family", c.each)
	}
}

// TestObjectsOfAllKinds packs objects of all kinds, in both encodings.
func TestObjectsOfAllKinds(t *testing.T) {
	for _, kind := range cluster.New(1, 100).Kinds() {
		inJSON, inProtobuf := newTexts(), newTexts()
		for i := range min(kind.Count, 6) {
			o := kind.Make(i)
			data, err := json.Marshal(o)
			require.NoError(t, err)
			requireBytes(t, data, pack(t, inJSON, o.GetNamespace(), o.GetName(), data))
			if m, ok := o.(interface{ Marshal() ([]byte, error) }); ok {
				data, err = m.Marshal()
				require.NoError(t, err)
				requireBytes(t, data, pack(t, inProtobuf, o.GetNamespace(), o.GetName(), data))
			}
		}
	}
}

// Packing allocates only the object and its blob, even if the base is not in the cache.
func TestAllocations(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 11))
	var names []string
	var siblings [][]byte
	var objects []*Object
	for i := range 300 {
		template := text(r, 1000)
		names, siblings = append(names, fmt.Sprintf("w%d-1", i)), append(siblings, sibling(r, template, 1))
		pack(t, k, "n", names[i], template)
		objects = append(objects, pack(t, k, "n", names[i], siblings[i]))
		require.False(t, isRaw(objects[i]))
	}
	perPack := 2
	if verify.On {
		perPack = 20 // verify mode unpacks and compares
	}
	allocs := testing.AllocsPerRun(3, func() {
		for i, data := range siblings {
			_, _ = k.Pack("n", names[i], data, Event)
		}
	})
	require.Less(t, int(allocs), (perPack+1)*len(siblings))
	var buffer []byte
	var spare baseData
	allocs = testing.AllocsPerRun(3, func() {
		for _, o := range objects {
			buffer, _ = o.unpack(buffer[:0], &spare)
		}
	})
	require.Less(t, int(allocs), len(objects)/4)
}

// The store's writer, and the readers that wait for it, do not wait for packing.
func TestCountDoesNotWaitForPacking(t *testing.T) {
	k := newTexts()
	o := pack(t, k, "n", "a", []byte("a text"))
	k.packing.Lock()
	defer k.packing.Unlock()
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		k.Count(o, 1)
		k.Count(o, -1)
	}()
	select {
	case <-counted:
	case <-time.After(time.Minute):
		t.Fatal("Count waits")
	}
}
