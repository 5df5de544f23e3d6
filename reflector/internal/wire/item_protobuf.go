package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// The numbers of a list's fields in protobuf.
const (
	listMetadata = 1 // a field of every list
	listItem     = 2
)

// The number of fields in each message around an object. All of them are strings or messages.
const (
	eventFields     = 2 // in meta.v1.WatchEvent
	extensionFields = 1 // in runtime.RawExtension
	unknownFields   = 4 // in runtime.Unknown
	listFields      = 2 // in every list
)

// A frame of a watch begins with its length in lengthSize bytes. maxFrame is four times client-go's
// limit. The first byte of a length is never whitespace, with which JSON may begin.
const (
	lengthSize = 4
	maxFrame   = 1 << 26
)

// errFrame means that a body is not a stream of frames.
var errFrame = fmt.Errorf("%w: a frame or an item of more than 64 MiB", ErrBadAnswer)

// errTruncated means that a field reaches beyond the end of its list.
var errTruncated = fmt.Errorf("%w: a field that is longer than its list", ErrBadAnswer)

// errNoList means that an answer ends before the list. client-go treats it as an empty list.
var errNoList = fmt.Errorf("%w: an envelope without a list", ErrBadAnswer)

// readBytes reads n bytes, in the reader's buffer if they fit. Memory is allocated as bytes arrive, not
// for n in advance.
func readBytes(in *bufio.Reader, buffer *[]byte, n uint64) ([]byte, error) {
	if n > maxFrame {
		return nil, errFrame
	}
	size := int(n) //nolint:gosec // at most maxFrame
	if size <= in.Size() {
		value, err := in.Peek(size)
		if err != nil {
			return nil, unexpected(err)
		}
		_, _ = in.Discard(size) // the bytes were peeked
		return value, nil
	}
	*buffer = (*buffer)[:0]
	for len(*buffer) < size {
		step := min(size-len(*buffer), max(len(*buffer), bodyBuffer))
		have := len(*buffer)
		*buffer = append(*buffer, make([]byte, step)...)
		if _, err := io.ReadFull(in, (*buffer)[have:]); err != nil {
			return nil, unexpected(err)
		}
	}
	return *buffer, nil
}

// unexpected returns the error for a body that ends inside a value.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// protobufEvents reads the events of a watch in protobuf. Each event follows its length. If an event
// arrives while the watch waits, it is read with a small buffer. Larger events, and events that have
// already arrived, are read with a large buffer, which is returned to the pool when it is empty.
type protobufEvents struct {
	in    *bufio.Reader // with watchBuffer bytes
	burst *bufio.Reader // reads in with bodyBuffer bytes; may be nil
	kinds kindReader
}

// bursts are the large buffers for watches that are not waiting.
var bursts = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, bodyBuffer) }}

func (e *protobufEvents) next() (item, error) {
	in := e.reader()
	length, err := in.Peek(lengthSize)
	if err != nil {
		if len(length) > 0 {
			err = unexpected(err)
		}
		return item{}, err
	}
	n := uint64(binary.BigEndian.Uint32(length))
	if in == e.in && n > watchBuffer-lengthSize {
		in = e.begin()
	}
	_, _ = in.Discard(lengthSize) // the length was peeked
	var memory []byte             // memory for an event larger than both buffers, which the watch does not keep
	frame, err := readBytes(in, &memory, n)
	if err != nil {
		return item{}, err
	}
	return readEvent(frame, &e.kinds)
}

// reader returns the reader for the next event.
func (e *protobufEvents) reader() *bufio.Reader {
	if e.burst != nil && e.burst.Buffered() == 0 {
		e.burst.Reset(nil)
		bursts.Put(e.burst)
		e.burst = nil
	}
	switch {
	case e.burst != nil:
		return e.burst
	case e.in.Buffered() > 0:
		return e.begin()
	default:
		return e.in
	}
}

// begin takes a large buffer, and moves the rest of the small buffer into it.
func (e *protobufEvents) begin() *bufio.Reader {
	e.burst = bursts.Get().(*bufio.Reader) //nolint:forcetypeassert // the pool has only these
	e.burst.Reset(e.in)
	return e.burst
}

// readEvent reads a frame of a watch like generated code: if a string field occurs twice, the last value
// counts. A second object or kind is an error: generated code would merge it with the first one, and no
// server sends it.
func readEvent(frame []byte, kinds *kindReader) (item, error) {
	it := item{format: formatProtobuf}
	var object, raw, kind []byte
	objects, types := 0, 0
	err := eachField(frame, eventFields, func(number protowire.Number, value []byte) {
		switch number {
		case eventType:
			it.event = eventOf(value)
		case eventObject:
			object, objects = value, objects+1
		}
	})
	switch {
	case err != nil:
		return it, fmt.Errorf("%w: event: %w", ErrBadAnswer, err)
	case objects > 1:
		return it, fmt.Errorf("%w: an event with two objects", ErrBadAnswer)
	}
	if err := eachField(object, extensionFields, func(_ protowire.Number, value []byte) { raw = value }); err != nil {
		return it, fmt.Errorf("%w: event object: %w", ErrBadAnswer, err)
	}
	envelope, ok := cutMagic(raw)
	switch {
	case !ok:
		return it, fmt.Errorf("%w: an event whose object is not protobuf", ErrBadAnswer)
	case len(envelope) == 0:
		return it, fmt.Errorf("%w: an event without an object", ErrBadAnswer)
	}
	err = eachField(envelope, unknownFields, func(number protowire.Number, value []byte) {
		switch number {
		case unknownType:
			kind, types = value, types+1
		case unknownRaw:
			it.data = value
		}
	})
	switch {
	case err != nil:
		return it, fmt.Errorf("%w: event object: %w", ErrBadAnswer, err)
	case types > 1:
		return it, fmt.Errorf("%w: an event's object with two kinds", ErrBadAnswer)
	}
	if it.typeMeta, err = kinds.read(kind); err != nil {
		return it, fmt.Errorf("%w: kind of an event's object: %w", ErrBadAnswer, err)
	}
	return it, nil
}

// eachField calls f with each field of a message up to the number known. These fields are strings or
// messages. It skips all others.
func eachField(message []byte, known protowire.Number, f func(number protowire.Number, value []byte)) error {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return protowire.ParseError(size)
		}
		message = message[size:]
		if size = protowire.ConsumeFieldValue(number, kind, message); size < 0 {
			return protowire.ParseError(size)
		}
		if number <= known {
			if kind != protowire.BytesType {
				return fmt.Errorf("field %d of type %d", number, kind)
			}
			value, _ := protowire.ConsumeBytes(message) // the message is complete
			f(number, value)
		}
		message = message[size:]
	}
	return nil
}

// eventOf returns the type of an event. It does not allocate for the types that servers send.
func eventOf(name []byte) watch.EventType {
	for _, t := range [...]watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark, watch.Error} {
		if string(name) == string(t) {
			return t
		}
	}
	return watch.EventType(name)
}

// kindReader reads the kinds in envelopes. It remembers the last kind, because all objects of a watch
// have the same kind.
type kindReader struct {
	bytes []byte
	last  metav1.TypeMeta
}

func (k *kindReader) read(message []byte) (metav1.TypeMeta, error) {
	if bytes.Equal(message, k.bytes) {
		return k.last, nil
	}
	var kind runtime.TypeMeta
	if err := kind.Unmarshal(message); err != nil {
		return metav1.TypeMeta{}, err
	}
	k.bytes, k.last = append(k.bytes[:0], message...), metav1.TypeMeta{APIVersion: kind.APIVersion, Kind: kind.Kind}
	return k.last, nil
}

// readIdentity reads the identity of an object.
func readIdentity(encoded []byte) object.Identity {
	meta, _ := field(encoded, objectMetadata)
	return object.Identity{
		Key:     indexer.Key{Namespace: text(meta, metaNamespace), Name: text(meta, metaName)},
		UID:     text(meta, metaUID),
		Version: text(meta, metaVersion),
	}
}
