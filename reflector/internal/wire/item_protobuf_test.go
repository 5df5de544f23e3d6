package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
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

// rawExtension is the number of the only field of runtime.RawExtension.
const rawExtension = 1

// appendField appends a field whose value is a string or a message.
func appendField(message []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(message, number, protowire.BytesType), value)
}

// Frames that fit are read in the reader's buffer, and others in a buffer of their own.
func TestFramesOfAnySize(t *testing.T) {
	var events []watch.Event
	for _, size := range []int{0, 100, bodyBuffer - 200, bodyBuffer, 3 * bodyBuffer, 7} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"a": strings.Repeat("x", size)}}}
		events = append(events, watch.Event{Type: watch.Modified, Object: pod})
	}
	whole := encoded(t, events...)
	for _, body := range []io.Reader{bytes.NewReader(whole), iotest.HalfReader(bytes.NewReader(whole)), iotest.OneByteReader(bytes.NewReader(whole))} {
		in, err := newEventItems(body)
		require.NoError(t, err)
		for _, e := range events {
			it, err := in.next()
			require.NoError(t, err)
			var pod corev1.Pod
			require.NoError(t, pod.Unmarshal(it.data))
			require.Equal(t, e.Object, &pod)
		}
		_, err = in.next()
		require.ErrorIs(t, err, io.EOF)
	}
}

// Events that have arrived together are read together. A waiting watch holds a small buffer.
func TestAWatchHoldsALargeBufferForABurstOnly(t *testing.T) {
	const pods = 100
	var burst []watch.Event
	for range pods {
		burst = append(burst, watch.Event{Type: watch.Modified, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("x", 5<<10)}}})
	}
	body := &countedReader{Reader: bytes.NewReader(encoded(t, burst...))}
	in, err := newEventItems(body)
	require.NoError(t, err)
	events := in.(*protobufEvents)
	body.waits = func() { require.Nil(t, events.burst, "a waiting watch holds a large buffer") }
	for range pods {
		_, err := events.next()
		require.NoError(t, err)
	}
	require.LessOrEqual(t, body.reads, pods*6<<10/bodyBuffer+4)
	_, err = events.next()
	require.ErrorIs(t, err, io.EOF)
}

// countedReader counts its reads. It calls a function before it reports that no more bytes have arrived.
type countedReader struct {
	*bytes.Reader
	reads int
	waits func()
}

func (r *countedReader) Read(p []byte) (int, error) {
	if r.reads++; r.Len() == 0 {
		r.waits()
	}
	return r.Reader.Read(p)
}

// A length close to the size of the reader's buffer is read exactly. A body that ends early is
// incomplete.
func TestReadBytes(t *testing.T) {
	var buffer []byte
	for _, n := range []int{0, 1, bodyBuffer - 1, bodyBuffer, bodyBuffer + 1, 3 * bodyBuffer} {
		text := bytes.Repeat([]byte{7}, n)
		in := bufio.NewReaderSize(bytes.NewReader(append(text, 8)), bodyBuffer)
		got, err := readBytes(in, &buffer, uint64(n))
		require.NoError(t, err)
		require.True(t, bytes.Equal(text, got), n)
		last, err := in.ReadByte()
		require.NoError(t, err)
		require.EqualValues(t, 8, last)

		in = bufio.NewReaderSize(bytes.NewReader(text), bodyBuffer)
		_, err = readBytes(in, &buffer, uint64(n)+1)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		in = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(text), iotest.ErrReader(errBroken)), bodyBuffer)
		_, err = readBytes(in, &buffer, uint64(n)+1)
		require.ErrorIs(t, err, errBroken)
	}
	_, err := readBytes(bufio.NewReader(strings.NewReader("")), &buffer, maxFrame+1)
	require.ErrorIs(t, err, errFrame)
}

var errBroken = errors.New("broken")

// Each event has its own type and kind, regardless of the previous event.
func TestKindsOfEvents(t *testing.T) {
	events := []watch.Event{
		{Type: watch.Added, Object: &corev1.Pod{}}, {Type: watch.Deleted, Object: &corev1.Pod{}},
		{Type: watch.Bookmark, Object: &corev1.Node{}}, {Type: "UNHEARD", Object: &corev1.Pod{}},
	}
	in, err := newEventItems(bytes.NewReader(encoded(t, events...)))
	require.NoError(t, err)
	for i, kind := range []string{"Pod", "Pod", "Node", "Pod"} {
		it, err := in.next()
		require.NoError(t, err)
		require.Equal(t, events[i].Type, it.event)
		require.Equal(t, metav1.TypeMeta{APIVersion: "v1", Kind: kind}, it.typeMeta)
	}
}

// Unknown fields of any type are skipped. Known fields are strings or messages. An answer has one list.
func TestFieldsAroundItems(t *testing.T) {
	pod, err := somePod("a", "3").Marshal()
	require.NoError(t, err)
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.VarintType), 300)
	unknown = protowire.AppendFixed32(protowire.AppendTag(unknown, 8, protowire.Fixed32Type), 1)
	unknown = protowire.AppendFixed64(protowire.AppendTag(unknown, 9, protowire.Fixed64Type), 1)
	number := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
	around := func(data ...[]byte) []byte { return append(bytes.Clone(magic), bytes.Join(data, nil)...) }
	list := appendField(nil, unknownRaw, slices.Concat(unknown, appendField(nil, listItem, pod), unknown))

	items := newProtobufList(bufio.NewReader(bytes.NewReader(around(unknown, list, unknown))))
	it, err := items.next()
	require.NoError(t, err)
	require.Equal(t, pod, it.data)
	_, err = items.next()
	require.ErrorIs(t, err, io.EOF)

	for name, body := range map[string][]byte{
		"two lists":                around(list, list),
		"a number in the envelope": around(number, list),
		"a number instead of meta": around(appendField(nil, unknownRaw, number)),
		"a kind that is cut off":   around(appendField(nil, unknownType, []byte{10, 9, 'v'}), list),
	} {
		items := newProtobufList(bufio.NewReader(bytes.NewReader(body)))
		for err = nil; err == nil; {
			_, err = items.next()
		}
		require.ErrorIs(t, err, ErrBadAnswer, name)
	}

	event := func(envelope []byte) []byte {
		return slices.Concat(unknown, appendField(nil, eventType, []byte("ADDED")), appendField(nil, eventObject, appendField(nil, rawExtension, envelope)))
	}
	it, err = readEvent(event(around(unknown, appendField(nil, unknownRaw, pod), unknown)), &kindReader{})
	require.NoError(t, err)
	require.Equal(t, pod, it.data)
	for name, frame := range map[string][]byte{
		"a number in the event":       append(bytes.Clone(number), event(around(appendField(nil, unknownRaw, pod)))...),
		"a number in the envelope":    event(around(number, appendField(nil, unknownRaw, pod))),
		"an object that is cut off":   event(around(appendField(nil, unknownRaw, pod)[:20])),
		"no object":                   event(around()),
		"an object without its magic": event(appendField(nil, unknownRaw, pod)),
		"a kind that is cut off":      event(around(appendField(nil, unknownType, []byte{10, 9, 'v'}), appendField(nil, unknownRaw, pod))),
	} {
		_, err := readEvent(frame, &kindReader{})
		require.ErrorIs(t, err, ErrBadAnswer, name)
	}
}

// If a message field of a list occurs twice, both are one message, as in generated code: the kind may
// come in two parts. In an event this is an error.
func TestMessagesInTwoParts(t *testing.T) {
	version, kind := appendField(nil, 1, []byte("v1")), appendField(nil, 2, []byte("Pod"))
	pod, err := somePod("a", "3").Marshal()
	require.NoError(t, err)
	event := func(envelope ...[]byte) []byte {
		return appendField(nil, eventObject, appendField(nil, rawExtension, slices.Concat(append([][]byte{magic}, envelope...)...)))
	}
	once := event(appendField(nil, unknownType, slices.Concat(version, kind)), appendField(nil, unknownRaw, pod))
	it, err := readEvent(bytes.Clone(once), &kindReader{})
	require.NoError(t, err)
	require.Equal(t, metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, it.typeMeta)
	require.Equal(t, pod, it.data)
	for want, frame := range map[string][]byte{
		"two objects": append(bytes.Clone(once), appendField(nil, eventObject, nil)...),
		"two kinds":   event(appendField(nil, unknownType, version), appendField(nil, unknownRaw, pod), appendField(nil, unknownType, kind)),
	} {
		_, err := readEvent(frame, &kindReader{})
		require.ErrorIs(t, err, ErrBadAnswer)
		require.ErrorContains(t, err, want)
	}

	meta := func(l metav1.ListMeta) []byte {
		data, err := l.Marshal()
		require.NoError(t, err)
		return appendField(nil, listMetadata, data)
	}
	list := slices.Concat(meta(metav1.ListMeta{ResourceVersion: "5"}), meta(metav1.ListMeta{Continue: "more"}))
	items := newProtobufList(bufio.NewReader(bytes.NewReader(slices.Concat(
		magic, appendField(nil, unknownType, version), appendField(nil, unknownType, kind), appendField(nil, unknownRaw, list)))))
	_, err = items.next()
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, items.head().TypeMeta)
	require.Equal(t, "more", items.head().Continue)
}

func somePod(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID("uid-" + name), ResourceVersion: version, Labels: map[string]string{"app": name},
	}}
}
