package reflector

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	streamcodec "k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	clientwatch "k8s.io/client-go/rest/watch"
)

// protobuf returns the serializer with which a server writes a stream and a client reads it.
func protobuf(t testing.TB) kruntime.SerializerInfo {
	t.Helper()
	info, ok := kruntime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), kruntime.ContentTypeProtobuf)
	require.True(t, ok)
	return info
}

// encoded returns the body of a stream with some events, as a server writes it.
func encoded(t testing.TB, events ...watch.Event) []byte {
	t.Helper()
	return encodedAs(t, scheme.Codecs.EncoderForVersion(protobuf(t).Serializer, corev1.SchemeGroupVersion), events...)
}

func encodedAs(t testing.TB, object kruntime.Encoder, events ...watch.Event) []byte {
	t.Helper()
	info := protobuf(t)
	var body bytes.Buffer
	frame := info.StreamSerializer.NewFrameWriter(&body)
	for _, e := range events {
		raw, err := kruntime.Encode(object, e.Object)
		require.NoError(t, err)
		event := &metav1.WatchEvent{Type: string(e.Type), Object: kruntime.RawExtension{Raw: raw}}
		require.NoError(t, info.StreamSerializer.Encode(event, frame))
	}
	return body.Bytes()
}

// decoded returns the events that client-go reads from a body.
func decoded(t testing.TB, body io.ReadCloser) (events []watch.Event) {
	t.Helper()
	info := protobuf(t)
	frames := info.StreamSerializer.NewFrameReader(body)
	d := clientwatch.NewDecoder(streamcodec.NewDecoder(frames, info.StreamSerializer.Serializer), scheme.Codecs.UniversalDeserializer())
	for {
		kind, object, err := d.Decode()
		if errors.Is(err, io.EOF) {
			return events
		}
		require.NoError(t, err)
		events = append(events, watch.Event{Type: kind, Object: object})
	}
}

// knows omits its objects, and records the objects that it was asked about.
type knows struct {
	has   map[id]bool
	all   bool
	asked []id
}

func (k *knows) omit(o id) bool {
	k.asked = append(k.asked, o)
	return k.all || k.has[o]
}

func somePod(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID("uid-" + name), ResourceVersion: version, Labels: map[string]string{"app": name},
	}}
}

func endOfState(version string) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: version, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}}
}

// anyObject returns a random object: of any size, and with all or parts of an identity.
func anyObject(r *rand.Rand, i int) kruntime.Object {
	p := somePod(fmt.Sprint("pod-", i, strings.Repeat("x", r.IntN(240))), fmt.Sprint(i))
	p.GenerateName = strings.Repeat("g", r.IntN(3)*20)
	p.Annotations = map[string]string{"note": strings.Repeat("n", r.IntN(4)*1500)}
	switch r.IntN(8) {
	case 0:
		p.UID = ""
	case 1:
		p.ResourceVersion = ""
	case 2:
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion}}
	case 3:
		return &metav1.Status{Message: p.Name, Code: 410}
	case 4:
		p.GenerateName = strings.Repeat("g", headSize) // so that the identity is not in the head
	}
	return p
}

// A known object is replaced by a bookmark with its identity. All other bytes stay as the server
// sent them, in whatever pieces the body arrives, and so do all events after the initial state.
func TestFramesLeaveOutWhatIsKnownAndNothingElse(t *testing.T) {
	kinds := []watch.EventType{watch.Added, watch.Added, watch.Added, watch.Modified, watch.Deleted, watch.Error}
	readers := []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
	}
	omitted := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		known := &knows{has: map[id]bool{}}
		var sent, expected []watch.Event
		for i, end := range []int{r.IntN(30), r.IntN(5)} {
			for j := range end {
				object := anyObject(r, 100*i+j)
				e := watch.Event{Type: kinds[r.IntN(len(kinds))], Object: object}
				sent = append(sent, e)
				m, ok := object.(metav1.Object)
				if ok && r.IntN(2) == 0 {
					known.has[idOf(m)] = true
					hasAll := m.GetUID() != "" && m.GetResourceVersion() != "" && len(m.GetGenerateName()) < headSize
					if i == 0 && e.Type == watch.Added && hasAll {
						e = watch.Event{Type: watch.Bookmark, Object: stubOf(object)}
						omitted++
					}
				}
				expected = append(expected, e)
			}
			sent, expected = append(sent, endOfState("1")), append(expected, endOfState("1"))
		}
		body := readers[r.IntN(len(readers))](bytes.NewReader(encoded(t, sent...)))
		got := decoded(t, newFrames(io.NopCloser(body), known))
		require.Len(t, got, len(expected), "seed %d", seed)
		for i := range expected {
			require.Equal(t, expected[i].Type, got[i].Type, "seed %d, event %d", seed, i)
			require.Equal(t, encoded(t, expected[i]), encoded(t, got[i]), "seed %d, event %d", seed, i)
		}
	}
	require.Greater(t, omitted, 300)
}

// stubOf returns an object of the same kind with nothing but the identity.
func stubOf(object kruntime.Object) kruntime.Object {
	m := object.(metav1.Object)
	meta := metav1.ObjectMeta{Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(), ResourceVersion: m.GetResourceVersion()}
	if _, ok := object.(*corev1.Namespace); ok {
		return &corev1.Namespace{ObjectMeta: meta}
	}
	return &corev1.Pod{ObjectMeta: meta}
}

// A body that breaks off ends at the same byte, with the same error. An incomplete event is not
// replaced.
func TestFramesThatBreakOff(t *testing.T) {
	large := somePod("a", "1")
	large.Annotations = map[string]string{"note": strings.Repeat("n", 2*headSize)}
	body := encoded(t, watch.Event{Type: watch.Added, Object: large})
	broken := errors.New("broken")
	for n := range body {
		in := io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(broken))
		out, err := io.ReadAll(newFrames(io.NopCloser(in), &knows{}))
		require.ErrorIs(t, err, broken)
		require.Equal(t, body[:n], out)

		in = io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(broken))
		out, err = io.ReadAll(newFrames(io.NopCloser(in), &knows{all: true}))
		require.ErrorIs(t, err, broken)
		require.NotContains(t, string(out), watch.Bookmark)

		out, err = io.ReadAll(newFrames(io.NopCloser(&tellsOnce{Reader: bytes.NewReader(body[:n]), err: broken}), &knows{}))
		require.ErrorIs(t, err, broken)
		require.Equal(t, body[:n], out)
	}
	end := bytes.NewReader(body[:len(body)-1])
	_, err := io.ReadAll(newFrames(io.NopCloser(end), &knows{all: true}))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "within what is left out")
}

// tellsOnce is a reader that returns its error once, and io.EOF afterwards.
type tellsOnce struct {
	io.Reader
	err error
}

func (o *tellsOnce) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if errors.Is(err, io.EOF) && o.err != nil {
		err, o.err = o.err, nil
	}
	return n, err
}

// In a body that is read in large pieces, known objects are replaced, and all others unchanged.
func TestFramesReadInLargePieces(t *testing.T) {
	a, b := watch.Event{Type: watch.Added, Object: somePod("a", "1")}, watch.Event{Type: watch.Added, Object: somePod("b", "1")}
	body := bytes.NewReader(encoded(t, b, a, b, a, endOfState("1")))
	out, err := io.ReadAll(newFrames(io.NopCloser(body), &knows{has: map[id]bool{idOf(somePod("a", "1")): true}}))
	require.NoError(t, err)
	var types []watch.EventType
	for _, e := range decoded(t, io.NopCloser(bytes.NewReader(out))) {
		types = append(types, e.Type)
	}
	require.Equal(t, []watch.EventType{watch.Added, watch.Bookmark, watch.Added, watch.Bookmark, watch.Bookmark}, types)
}

type closed bool

func (*closed) Read([]byte) (int, error) { return 0, io.EOF }

func (c *closed) Close() error {
	*c = true
	return nil
}

func TestFramesCloseTheBody(t *testing.T) {
	var body closed
	require.NoError(t, newFrames(&body, nil).Close())
	require.True(t, bool(body))
}

// An identity that the head cuts off counts as unknown.
func TestAnIdentityThatTheHeadCutsOff(t *testing.T) {
	asked := 0
	for n := range 250 {
		p := somePod("a", "1234567890")
		p.GenerateName = strings.Repeat("g", headSize-250+n)
		known := &knows{}
		decoded(t, newFrames(io.NopCloser(bytes.NewReader(encoded(t, watch.Event{Type: watch.Added, Object: p}))), known))
		asked += len(known.asked)
		for _, o := range known.asked {
			require.Equal(t, idOf(p), o)
		}
	}
	require.Greater(t, asked, 100)
	require.Less(t, asked, 250)
}

func TestReadHead(t *testing.T) {
	whole := head{event: "BOOKMARK", typeMeta: []byte("x"), id: idOf(somePod("a", "1"))}
	frame := whole.stub()[lengthSize:]
	require.Equal(t, whole, readHead(frame))
	require.True(t, whole.named())
	require.False(t, head{typeMeta: whole.typeMeta, id: id{uid: "u", version: "1"}}.named(), "no name")
	require.False(t, head{id: whole.id}.named(), "no kind")
	require.False(t, readHead(bytes.Replace(frame, magic, nil, 1)).named(), "no magic")
	require.Empty(t, readHead([]byte{0x0a, 0x80}), "half a length")
}

// Whatever a server sends, a sink without objects gets the same bytes, and a sink that knows every
// object loses only events with a full identity.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1})
	f.Add([]byte{255, 255, 255, 255, 10, 5})
	f.Add(encoded(f, watch.Event{Type: watch.Added, Object: somePod("a", "1")}, watch.Event{Type: watch.Modified, Object: somePod("b", "2")}))
	f.Add(encoded(f, watch.Event{Type: watch.Added, Object: somePod("a", "1")}, endOfState("1"), watch.Event{Type: watch.Added, Object: somePod("b", "2")}))
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := io.ReadAll(newFrames(io.NopCloser(bytes.NewReader(body)), &knows{}))
		if err != nil {
			require.ErrorIs(t, err, ErrBadAnswer, "a frame too large")
		}
		require.Equal(t, string(body), string(out))

		known := &knows{all: true}
		_, err = io.ReadAll(newFrames(io.NopCloser(bytes.NewReader(body)), known))
		if err != nil && !errors.Is(err, ErrBadAnswer) {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "what is left out ends too early")
		}
		for _, o := range known.asked {
			require.NotEmpty(t, o.key.Name)
			require.NotEmpty(t, o.uid)
			require.NotEmpty(t, o.version)
		}
	})
}
