package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// randomMeta returns metadata with random fields set, some of them to empty values.
func randomMeta(r *rand.Rand) (m metav1.ObjectMeta) {
	texts := []string{"", "a", "web-7", "x\xffy", "ü", `"\`, "null"}
	text := func() string { return texts[r.IntN(len(texts))] }
	some := func() bool { return r.IntN(2) == 0 }
	for _, s := range []*string{&m.Name, &m.GenerateName, &m.Namespace, &m.ResourceVersion, (*string)(&m.UID)} {
		*s = text()
	}
	at := metav1.NewTime(time.Unix(r.Int64N(3), 0))
	if some() {
		m.CreationTimestamp = at
	}
	if some() {
		m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &at, new(r.Int64N(2))
	}
	if some() {
		m.Labels, m.Annotations, m.Finalizers = map[string]string{}, map[string]string{text(): text()}, []string{}
	}
	for range r.IntN(4) {
		if m.Labels != nil {
			m.Labels[text()] = text()
		}
		m.Finalizers = append(m.Finalizers, text())
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{Kind: text(), UID: types.UID(text())})
		m.ManagedFields = append(m.ManagedFields, metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{}}`)})
	}
	return m
}

// objects returns an object of each built-in kind, with random metadata, and a few with all other fields set.
func objects(t testing.TB, r *rand.Rand) []runtime.Object {
	t.Helper()
	all := append(droppers(), &metav1.PartialObjectMetadata{})
	for gvk := range scheme.Scheme.AllKnownTypes() {
		obj, err := scheme.Scheme.New(gvk)
		require.NoError(t, err)
		_, encodes := obj.(interface{ Marshal() ([]byte, error) })
		if object.Meta(obj) != nil && encodes && gvk.Version != runtime.APIVersionInternal {
			all = append(all, obj)
		}
	}
	for _, obj := range all {
		m := randomMeta(r)
		reflect.ValueOf(obj).Elem().FieldByName("ObjectMeta").Set(reflect.ValueOf(m))
	}
	return all
}

// bothFormats returns an object as a server encodes it: in JSON, with its kind, and in protobuf.
func bothFormats(t testing.TB, obj runtime.Object) (text, proto []byte) {
	t.Helper()
	obj.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Thing"))
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	proto, err = obj.(interface{ Marshal() ([]byte, error) }).Marshal()
	require.NoError(t, err)
	return text, proto
}

// requireMeta compares the result of Meta with the metadata of the decoded object, if an object with these
// bytes would be packed. For other bytes, Meta must only not panic.
func requireMeta(t *testing.T, d *PackedDecoder, data []byte, f pack.Form) {
	t.Helper()
	meta, err := d.Meta(data, f)
	obj, undecodable := d.Decode(data, f)
	if undecodable != nil {
		return
	}
	it := item{format: formatOf(data), data: data}
	if _, _, ok := it.toPack(obj.(runtime.Object), nil, nil); !ok {
		return
	}
	require.NoError(t, err, "%q", data)
	require.Equal(t, partOf(object.Meta(obj)), meta, "%q", data)
}

func TestMetaIsThatOfTheObject(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, obj := range objects(t, r) {
		text, proto := bothFormats(t, obj)
		typed, loose := NewPackedDecoder(Objects{Type: reflect.TypeOf(obj)}, nil), NewPackedDecoder(Objects{Type: Unstructured}, nil)
		for _, f := range []pack.Form{pack.Event, pack.Item, pack.Marshalled} {
			requireMeta(t, typed, proto, f)
			requireMeta(t, typed, text, f)
			requireMeta(t, loose, text, f)
		}
		reader, looseReader := newMetaReader(reflect.TypeOf(obj), nil), newMetaReader(Unstructured, nil)
		require.NotNil(t, reader.read(proto), "%T", obj)
		require.NotNil(t, reader.read(text), "%T: %s", obj, text)
		odd := slices.Contains(object.Meta(obj).GetFinalizers(), "")
		require.Equal(t, odd, looseReader.read(text) == nil, "%T: %s", obj, text)
		for range 20 {
			damaged := slices.Concat([][]byte{proto, text}[r.IntN(2)])
			damaged[r.IntN(len(damaged))] = byte(r.IntN(256)) //nolint:gosec // a byte
			requireMeta(t, typed, damaged, pack.Event)
			requireMeta(t, loose, damaged, pack.Event)
		}
	}
}

// Null fields, and an annotation of kubectl apply that contains null, do not force Meta to decode the object.
func TestMetaWithNullsNeedsNoDecoder(t *testing.T) {
	text := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"null","creationTimestamp":null,"labels":{"a":null},"deletionTimestamp":null,` +
		`"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"metadata\":{\"creationTimestamp\":null}}\n"}},"spec":null}`)
	for _, of := range []reflect.Type{typeOfPod, Unstructured} {
		reader := newMetaReader(of, nil)
		require.NotNil(t, reader.read(text), of)
		requireMeta(t, NewPackedDecoder(Objects{Type: of}, nil), text, pack.Event)
	}
}

// Meta decodes objects that no server writes: metadata in several pieces, duplicate fields, null in a list, and
// values of the wrong type.
func TestMetaOfOddObjects(t *testing.T) {
	half, other := []byte{}, []byte{}
	for number, value := range map[protowire.Number]string{metaName: "a", metaUID: "u"} {
		half = appendField(half, number, []byte(value))
	}
	for _, o := range []metav1.ObjectMeta{{Labels: map[string]string{"a": "b"}}, {Name: "b", Finalizers: []string{"x"}}} {
		more, err := o.Marshal()
		require.NoError(t, err)
		other = appendField(other, objectMetadata, more)
	}
	pieces := appendField(other, objectMetadata, half)
	unknown := append(protowire.AppendTag(nil, 99, protowire.StartGroupType), protowire.AppendTag(nil, 99, protowire.EndGroupType)...)
	pod := NewPackedDecoder(Objects{Type: typeOfPod}, nil)
	for _, data := range [][]byte{nil, pieces, append(pieces, unknown...), append(unknown, pieces...), appendField(nil, objectMetadata, append(half, half...)), pieces[:len(pieces)-1]} {
		requireMeta(t, pod, data, pack.Event)
	}
	for _, metadata := range []string{
		``, `5`, `null`, `{}`, `{"name":5}`, `{"name":null,"labels":{"a":null},"finalizers":[null]}`, `{"labels":null,"finalizers":null}`, `{"finalizers":["a",null]}`, `{"finalizers":[""]}`,
		`{"deletionTimestamp":null,"deletionGracePeriodSeconds":null,"uid":null}`, `{"labels":{"a":"b"},"labels":{"c":"d"}}`,
		`{"labels":[],"finalizers":{}}`, `{"labels":{"a":1}}`, `{"Name":"x","n\u0061me":"y"}`, `{"name":"x","name":"y"}`, `{"uid":"\ud800"}`,
		`{"deletionTimestamp":"0001-01-01T00:00:00Z"}`, `{"deletionTimestamp":""}`, `{"deletionTimestamp":"2020-01-01T00:00:00+07:00"}`,
		`{"deletionGracePeriodSeconds":1.0}`, `{"deletionGracePeriodSeconds":12345678901234567890}`, `{"managedFields":5,"creationTimestamp":"?"}`,
	} {
		text := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":` + metadata + `,"spec":{}}`)
		requireMeta(t, pod, text, pack.Event)
		requireMeta(t, NewPackedDecoder(Objects{Type: Unstructured}, nil), text, pack.Event)
	}
	requireMeta(t, NewPackedDecoder(Objects{Type: reflect.TypeFor[*renamed]()}, nil), []byte(podText("a", "1")), pack.Event)
}

// renamed is an object that decodes itself, and gets another name than in its JSON.
type renamed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

func (r *renamed) UnmarshalJSON([]byte) error { r.Name = "another"; return nil }
func (r *renamed) DeepCopyObject() runtime.Object {
	return &renamed{r.TypeMeta, *r.DeepCopy()}
}

// Meta leaves out dropped fields too.
func TestMetaWithoutDroppedFields(t *testing.T) {
	pod := kit.RunningPod("web", 1)
	text, proto := bothFormats(t, pod)
	for _, path := range []string{"metadata.labels", "metadata.labels.app", "metadata.deletionGracePeriodSeconds", "metadata.managedFields", "spec"} {
		drop, err := fields.Parse(path)
		require.NoError(t, err)
		requireMeta(t, NewPackedDecoder(Objects{Type: typeOfPod}, drop), text, pack.Event)
		requireMeta(t, NewPackedDecoder(Objects{Type: typeOfPod}, drop), proto, pack.Event)
		requireMeta(t, NewPackedDecoder(Objects{Type: Unstructured}, drop), text, pack.Event)
	}
}

// FuzzMeta compares the result of Meta with the metadata of the decoded object.
func FuzzMeta(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 0))
	var decoders []*PackedDecoder
	for i, obj := range append(droppers(), &metav1.PartialObjectMetadata{ObjectMeta: randomMeta(r)}) {
		decoders = append(decoders, NewPackedDecoder(Objects{Type: reflect.TypeOf(obj)}, nil))
		text, proto := bothFormats(f, obj)
		f.Add(uint8(i), text)  //nolint:gosec // a few
		f.Add(uint8(i), proto) //nolint:gosec // a few
		f.Add(uint8(255), text)
	}
	loose := NewPackedDecoder(Objects{Type: Unstructured}, nil)
	f.Fuzz(func(t *testing.T, i uint8, data []byte) {
		d := loose
		if int(i) < len(decoders) {
			d = decoders[i]
		}
		requireMeta(t, d, data, pack.Event)
		requireMeta(t, d, data, pack.Item)
	})
}

// The packed bytes of an item decode to an object that equals the item's.
func TestPackedItemsDecodeToEqualObjects(t *testing.T) {
	pod := podText("a", "1")
	named := strings.Replace(pod, "{", `{"kind":"Pod","apiVersion":"v1",`, 1)
	list := func(head string, items ...string) string {
		return fmt.Sprintf(`{%s"metadata":{"resourceVersion":"9"},"items":[%s]}`, head, strings.Join(items, ","))
	}
	pods := `"kind":"PodList","apiVersion":"v1",`
	for name, c := range map[string]struct {
		body   string
		listed bool
		packed int
	}{
		"events":                      {`{"type":"ADDED","object":` + named + `}`, false, 1},
		"items without kinds":         {list(pods, pod, pod), true, 2},
		"items with kinds":            {list(pods, named, `{"apiVersion":"v1",`+pod[1:], `{"kind":"x",`+pod[1:], named+"\n"), true, 4},
		"items with empty kinds":      {list(pods, `{"apiVersion":"","kind":"",`+pod[1:]), true, 1},
		"a list with a strange kind":  {list(`"kind":"List","apiVersion":"<v\"1",`, pod), true, 1},
		"items before their kind":     {`{"items":[` + named + `],` + pods + `"metadata":{}}`, true, 1},
		"items without kinds, before": {`{"items":[` + pod + `],` + pods + `"metadata":{}}`, true, 0},
		"items that are not objects":  {list(pods, `{}`), true, 0},
		"items with two metadata":     {list(pods, `{"metadata":{},`+pod[1:]), true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewPackedDecoder(Objects{Type: Unstructured}, nil)
			require.Equal(t, c.packed, packAll(t, d, c.body, c.listed))
			typed := NewPackedDecoder(Objects{Type: typeOfPod}, nil)
			packAll(t, typed, c.body, c.listed)
		})
	}
	protobuf := string(encoded(t, watch.Event{Type: watch.Added, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}))
	require.Equal(t, 1, packAll(t, NewPackedDecoder(Objects{Type: typeOfPod}, nil), protobuf, false))
}

// packAll decodes the items of a body, decodes them again from the bytes to pack, and compares. It returns the
// number of items that can be packed.
func packAll(t *testing.T, d *PackedDecoder, body string, listed bool) (packed int) {
	t.Helper()
	var from items
	var of *ListHead
	var err error
	if listed {
		from, err = newListItems(strings.NewReader(body))
	} else {
		from, err = newEventItems(strings.NewReader(body))
	}
	require.NoError(t, err)
	var buffer []byte
	for {
		it, err := from.next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return packed
		}
		if listed {
			head := from.(listItems).head()
			of = &head
		}
		obj, err := NewDecoder(d.objects, Sharing{}, nil).decode(it, of)
		require.NoError(t, err)
		data, f, ok := it.toPack(obj, of, &buffer)
		if !ok {
			continue
		}
		packed++
		again, err := d.Decode(data, f)
		require.NoError(t, err)
		require.Equal(t, any(obj), again)
		requireMeta(t, d, data, f)
	}
}

// journalOf is a taker that records its objects. It takes all objects undecoded but one.
type journalOf struct {
	decodes string // the name of that object
	taken   []string
}

func (j *journalOf) Take(decoded any, _ []byte, f pack.Form) any {
	return j.note(object.Meta(decoded).GetName(), "", f)
}

func (j *journalOf) TakeUndecoded(_, name string, _ []byte, f pack.Form) any {
	if name == j.decodes {
		return nil
	}
	return j.note(name, " undecoded", f)
}

func (j *journalOf) note(name, how string, f pack.Form) any {
	j.taken = append(j.taken, fmt.Sprint(name, how, " ", f))
	return name
}

// Objects of initial states and lists in protobuf are packed without being decoded, if the sink takes them. Later
// objects are decoded. All are decoded if an undecodable object is an error.
func TestAnInitialStateIsNotDecoded(t *testing.T) {
	var events []watch.Event
	pods := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
	for _, event := range []struct {
		typ  watch.EventType
		name string
	}{{"ADDED", "a"}, {"ADDED", "b"}, {"BOOKMARK", ""}, {"ADDED", "c"}} {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: event.name, UID: types.UID(event.name), ResourceVersion: "1"}}
		events = append(events, watch.Event{Type: event.typ, Object: &p})
		pods.Items = append(pods.Items, p)
	}
	raw, err := pods.Marshal()
	require.NoError(t, err)
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Raw: raw}).Marshal()
	require.NoError(t, err)
	stream, list := encoded(t, events...), append(slices.Clone(magic), envelope...)

	receive := func(body []byte, r Reception, isList bool) (got []Received) {
		r.Ctx, r.Body, r.Decoder = t.Context(), io.NopCloser(bytes.NewReader(body)), NewDecoder(Objects{Type: typeOfPod}, Sharing{}, nil)
		for batch := range Receive(&r, isList).Batches {
			got = append(got, batch...)
		}
		return got
	}
	j := &journalOf{decodes: "b"}
	got := receive(stream, Reception{Taker: j, Initial: true}, false)
	require.Equal(t, []string{"a undecoded 0", "b 0", "c 0"}, j.taken)
	require.Nil(t, got[0].Object)
	require.Equal(t, Received{
		Event: watch.Event{Type: watch.Added}, ReadHere: true, Size: got[0].Size, Packed: "a",
		ID: object.Identity{Key: indexer.Key{Namespace: "n", Name: "a"}, UID: "a", Version: "1"},
	}, got[0])
	require.NotNil(t, got[1].Object)

	j = &journalOf{}
	receive(stream, Reception{Taker: j}, false)
	require.Equal(t, []string{"a 0", "b 0", "c 0"}, j.taken, "events of a watch")
	j = &journalOf{decodes: "b"}
	receive(list, Reception{Taker: j}, true)
	require.Equal(t, []string{"a undecoded 1", "b 1"}, j.taken[:2])
	j = &journalOf{}
	receive(list, Reception{Taker: j, Strict: true}, true)
	require.Equal(t, []string{"a 1", "b 1"}, j.taken[:2])
}
