package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/protodecode"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/shard"
)

// half returns a half of the ring.
func half(t testing.TB, f shard.Field, index int) *Share {
	t.Helper()
	set, err := shard.Nth(f, index, 2)
	require.NoError(t, err)
	return &Share{Set: set}
}

// The bytes of an item and the decoded object give the same result: the share that has the uid or
// namespace keeps the item, and all other shares drop it.
func TestShareOfAnItemIsThatOfTheObject(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	for _, obj := range objects(t, r) {
		m := object.Meta(obj)
		text, proto := bothFormats(t, obj)
		for _, it := range []item{{format: formatJSON, data: text}, {format: formatProtobuf, data: proto}} {
			m := m
			if it.format == formatJSON { // JSON replaces invalid UTF-8
				m = &metav1.PartialObjectMetadata{}
				require.NoError(t, json.Unmarshal(text, m))
			}
			for _, f := range []shard.Field{shard.ByUID, shard.ByNamespace} {
				for index := range 2 {
					s := half(t, f, index)
					version, foreign := s.drop(it.format, it.data)
					if _, _, ok := readMeta(it.format, it.data, f == shard.ByUID); !ok { // the item is decoded, and the object decides
						require.False(t, foreign)
						require.Equal(t, formatJSON, it.format, "%T", obj)
						continue
					}
					require.Equal(t, !s.Set.Has(m.GetNamespace(), m.GetUID()), foreign, "%T: %s", obj, text)
					require.Equal(t, foreign, s.Dropped.Load() == 1)
					require.Equal(t, m.GetResourceVersion(), string(version), "%T: %s", obj, text)
				}
			}
		}
	}
}

// FuzzShareOfProtobuf compares the result for an encoded object with that for the decoded object, if the
// object can be decoded and has each field at most once, as servers send it.
func FuzzShareOfProtobuf(f *testing.F) {
	for _, obj := range objects(f, rand.New(rand.NewPCG(3, 0))) {
		_, proto := bothFormats(f, obj)
		f.Add(proto)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		uid, version, ok := protodecode.ReadMeta(data, metaUID)
		namespace, _, okNamespace := protodecode.ReadMeta(data, metaNamespace)
		var obj metav1.PartialObjectMetadata
		metadata, once := fieldOnce(data, objectMetadata)
		if obj.Unmarshal(data) != nil || !once {
			return
		}
		for _, field := range []struct {
			ok     bool
			number protowire.Number
			want   string
			got    []byte
		}{{ok, metaUID, string(obj.UID), uid}, {okNamespace, metaNamespace, obj.Namespace, namespace}, {ok && version != nil, metaVersion, obj.ResourceVersion, version}} {
			if _, once := fieldOnce(metadata, field.number); field.ok && once {
				require.Equal(t, field.want, string(field.got))
			}
		}
	})
}

// fieldOnce returns a field, and whether the message has it exactly once.
func fieldOnce(message []byte, number protowire.Number) (value []byte, once bool) {
	n := 0
	for len(message) > 0 {
		got, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, false
		}
		message = message[size:]
		if size = protowire.ConsumeFieldValue(got, kind, message); size < 0 {
			return nil, false
		}
		if got == number {
			value, _ = protowire.ConsumeBytes(message)
			n++
		}
		message = message[size:]
	}
	return value, n == 1
}

// encodedPod returns an event's object of a few kB.
func encodedPod(t testing.TB, f format) item {
	t.Helper()
	text, proto := bothFormats(t, kit.RunningPod("web", 1))
	if f == formatProtobuf {
		return item{event: watch.Modified, format: f, data: proto}
	}
	var sorted map[string]any // as a server sends a custom resource
	require.NoError(t, json.Unmarshal(text, &sorted))
	text, err := json.Marshal(sorted)
	require.NoError(t, err)
	require.Less(t, bytes.Index(text, []byte(`"managedFields"`)), bytes.LastIndex(text, []byte(`"uid":"0b5c`)))
	return item{event: watch.Modified, format: f, data: text}
}

func TestFilterAllocatesNothing(t *testing.T) {
	for _, form := range []format{formatJSON, formatProtobuf} {
		it := encodedPod(t, form)
		for index := range 2 {
			r := &Reception{Share: half(t, shard.ByUID, index)}
			r.drops(it) // allocates the memory for a version
			require.Zero(t, testing.AllocsPerRun(100, func() { r.drops(it) }))
		}
	}
}

// BenchmarkForeign drops a foreign event.
func BenchmarkForeign(b *testing.B) {
	for name, form := range map[string]format{"protobuf": formatProtobuf, "json": formatJSON} {
		it := encodedPod(b, form)
		r := &Reception{Share: half(b, shard.ByUID, 0)}
		if !r.drops(it) {
			r = &Reception{Share: half(b, shard.ByUID, 1)}
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(it.data)))
			b.ReportAllocs()
			for b.Loop() {
				r.drops(it)
			}
		})
	}
}

// in returns the namespace of pods in the first half by namespace, or of foreign pods.
func in(own bool) string {
	if own {
		return "own"
	}
	return "far"
}

// eventText is an event in JSON; "" stands for no version.
func eventText(kind string, own bool, version string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":%q,"uid":"u","resourceVersion":%q},"spec":{"containers":%s}}}`,
		kind, in(own), version, map[bool]string{true: "[]", false: `"a pod that cannot be decoded"`}[own])
}

// received describes the batches of a reception.
func received(t *testing.T, r *Reception) (batches []string) {
	for batch := range r.Batches {
		var all []string
		for _, a := range batch {
			version := a.ID.Version
			if m := object.Meta(a.Object); m != nil {
				version = m.GetResourceVersion()
			}
			text := strings.TrimSpace(string(a.Type) + " " + version)
			if a.Type == Progress && !a.IsProgress() {
				text += ", with an object"
			}
			all = append(all, text)
		}
		batches = append(batches, strings.Join(all, ", "))
	}
	require.NoError(t, r.Err)
	return batches
}

// A foreign event is not decoded. Its version follows the own events of its batch, unless another event
// follows it.
func TestForeignEvents(t *testing.T) {
	const added, modified, deleted, bookmark = "ADDED", "MODIFIED", "DELETED", "BOOKMARK"
	text := func(events ...string) io.ReadCloser { return io.NopCloser(strings.NewReader(strings.Join(events, ""))) }
	for name, row := range map[string]struct {
		body               io.ReadCloser
		initial, unordered bool
		want               []string
		dropped            int
	}{
		"only":       {body: text(eventText(added, false, "1"), eventText(modified, false, "2"), eventText(deleted, false, "3")), want: []string{"PROGRESS 3"}, dropped: 3},
		"behind":     {body: text(eventText(added, true, "1"), eventText(modified, false, "2")), want: []string{"ADDED 1, PROGRESS 2"}, dropped: 1},
		"before":     {body: text(eventText(modified, false, "1"), eventText(modified, true, "2")), want: []string{"MODIFIED 2"}, dropped: 1},
		"a bookmark": {body: text(eventText(modified, false, "1"), eventText(bookmark, false, "2")), want: []string{"BOOKMARK 2"}, dropped: 1},
		"a body for each": {
			body: io.NopCloser(io.MultiReader(
				text(eventText(modified, false, "1"), eventText(modified, true, "2")), text(eventText(modified, false, "3")), text(eventText(modified, false, "4")), text(eventText(modified, true, "5")))),
			want: []string{"MODIFIED 2", "PROGRESS 3", "PROGRESS 4", "MODIFIED 5"}, dropped: 3,
		},
		"an initial state":     {body: text(eventText(added, true, "7"), eventText(added, false, "8")), initial: true, want: []string{"ADDED 7, PROGRESS"}, dropped: 1},
		"behind one":           {body: text(eventText(added, false, "7"), eventText(bookmark, false, "8"), eventText(added, false, "9")), initial: true, want: []string{"BOOKMARK 8, PROGRESS 9"}, dropped: 2},
		"without a version":    {body: text(eventText(added, false, "7"), eventText(added, false, "8")), unordered: true, want: []string{"PROGRESS"}, dropped: 2},
		"the order begins":     {body: text(eventText(added, false, "7"), eventText(modified, false, "8"), eventText(added, false, "9")), unordered: true, want: []string{"PROGRESS 9"}, dropped: 3},
		"an own one begins it": {body: text(eventText(deleted, true, "7"), eventText(added, false, "8")), unordered: true, want: []string{"DELETED 7, PROGRESS 8"}, dropped: 1},
		"an unknown type":      {body: text(eventText("UNHEARD", true, "7")), want: []string{"UNHEARD 7"}},
		"a server's own":       {body: text(eventText("PROGRESS", true, "7")), want: []string{"PROGRESS 7, with an object"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := half(t, shard.ByNamespace, 0)
				kind := NewDecoder(Objects{Type: typeOfPod}, Sharing{}, nil)
				r := Receive(&Reception{Ctx: t.Context(), Body: row.body, Decoder: kind, Share: s, Initial: row.initial, Unordered: row.unordered}, false)
				require.Equal(t, row.want, received(t, r))
				require.EqualValues(t, row.dropped, s.Dropped.Load())
			})
		})
	}
}

// Foreign items of a list leave nothing behind. Items whose field cannot be read are decoded.
func TestForeignItems(t *testing.T) {
	item := func(own bool, version string) string {
		return fmt.Sprintf(`{"metadata":{"name":"a","namespace":%q,"uid":"u","resourceVersion":%q}}`, in(own), version)
	}
	escaped := strings.Replace(item(false, "4"), "far", `f\u0061r`, 1)
	body := podList("9", item(false, "1"), item(true, "2"), item(false, "3"), escaped, item(false, "5"))
	for _, body := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body))} {
		s := half(t, shard.ByNamespace, 0)
		r := Receive(&Reception{Ctx: t.Context(), Body: io.NopCloser(body), Decoder: NewDecoder(Objects{Type: Unstructured}, Sharing{}, nil), Share: s}, true)
		require.Equal(t, []string{"ADDED 2, ADDED 4"}, received(t, r))
		require.EqualValues(t, 3, s.Dropped.Load())
		require.Equal(t, "9", r.Head.Version)
	}
}

// A foreign item is dropped before the sink is asked for it and before it is packed.
func TestForeignItemsAreNeitherKnownNorPacked(t *testing.T) {
	body := eventText("ADDED", false, "1") + eventText("ADDED", true, "2") + eventText("ADDED", false, "3")
	known, packed := 0, &journalOf{}
	r := Receive(&Reception{
		Ctx: t.Context(), Body: io.NopCloser(strings.NewReader(body)), Decoder: NewDecoder(Objects{Type: typeOfPod}, Sharing{}, nil), Initial: true,
		Share: half(t, shard.ByNamespace, 0), Taker: packed,
		Known: func(id object.Identity) (any, bool) {
			known++
			require.Equal(t, "own", id.Key.Namespace)
			return nil, false
		},
	}, false)
	require.Equal(t, []string{"ADDED 2, PROGRESS"}, received(t, r))
	require.Equal(t, []int{1, 1}, []int{known, len(packed.taken)})
}
