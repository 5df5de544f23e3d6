package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/jsondecode"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// format is the encoding of objects.
type format uint8

const (
	formatJSON format = iota + 1
	formatProtobuf
)

// item is an encoded object.
type item struct {
	event  watch.EventType // Added in a list
	format format
	// typeMeta is the kind in a protobuf envelope. It is empty in lists and in JSON.
	typeMeta metav1.TypeMeta
	// data is the object without an envelope. It is valid until the next item is read.
	data []byte
}

// items reads the objects of a body one by one. At the regular end, next returns io.EOF.
type items interface {
	next() (item, error)
}

// listItems are the items of a list. head may be called after the end.
type listItems interface {
	items
	head() ListHead
}

// ListHead holds the fields of a list without its items.
type ListHead struct {
	metav1.TypeMeta
	Version, Continue string
	Remaining         *int64
	hasItems          bool // if false, the object may not be a list
}

// check returns an error if the head is not that of a list of any kind.
func (h *ListHead) check() error {
	switch {
	case IsTable(schema.FromAPIVersionAndKind(h.APIVersion, h.Kind)):
		return ErrTable
	case !h.hasItems && !strings.HasSuffix(h.Kind, "List"), h.TypeMeta == statusMeta: // in protobuf, a status looks like a list
		return fmt.Errorf("%w: %q of %q instead of a list", ErrBadAnswer, h.Kind, h.APIVersion)
	}
	return nil
}

const (
	// bodyBuffer is the size of the buffer of a list's reader.
	bodyBuffer = 64 << 10
	// watchBuffer is the size for a waiting watch, which holds its buffer as long as it is open.
	watchBuffer = 4 << 10
)

// newListItems reads a list. It recognizes the format by its first bytes.
func newListItems(body io.Reader) (listItems, error) {
	in := bufio.NewReaderSize(body, bodyBuffer)
	switch first, err := in.Peek(len(magic)); {
	case string(first) == string(magic):
		return newProtobufList(in), nil
	case len(first) > 0 && startsJSON(first[0]):
		return jsonList{jsondecode.NewList(in)}, nil
	case err != nil && (len(first) == 0 || !errors.Is(err, io.EOF)): // otherwise the body is a short text
		return nil, err
	default:
		return nil, errNoObjects(in)
	}
}

// newEventItems is like newListItems, for the events of a watch.
func newEventItems(body io.Reader) (items, error) {
	in := bufio.NewReaderSize(body, 64) // reads into larger buffers bypass it
	first, err := in.Peek(1)
	switch {
	case err != nil:
		return nil, err
	case startsJSON(first[0]):
		return jsonEvents{jsondecode.NewEvents(in)}, nil
	case first[0] <= maxFrame>>24:
		return &protobufEvents{in: bufio.NewReaderSize(in, watchBuffer)}, nil
	default:
		return nil, errNoObjects(in)
	}
}

// errNoObjects returns the error for a body in another format. It quotes too few bytes to reveal a
// Secret.
func errNoObjects(in *bufio.Reader) error {
	text, _ := in.Peek(min(in.Buffered(), 20))
	return fmt.Errorf("%w: it begins with %q: is it the login page of a proxy?", ErrBadAnswer, text)
}

func startsJSON(b byte) bool { return b == '{' || b == ' ' || b == '\n' || b == '\r' || b == '\t' }

// identity returns the identity of an item's object. It returns false if the object has no name.
func (i item) identity() (object.Identity, bool) {
	if i.format == formatProtobuf {
		o := readIdentity(i.data)
		return o, o.Key.Name != ""
	}
	return jsondecode.ReadIdentity(i.data)
}

// jsonList reads a list in JSON.
type jsonList struct{ list *jsondecode.List }

func (l jsonList) next() (item, error) {
	data, err := l.list.Next()
	return item{event: watch.Added, format: formatJSON, data: data}, err
}

func (l jsonList) head() ListHead {
	h := l.list.Head()
	return ListHead{
		TypeMeta: metav1.TypeMeta{APIVersion: h.APIVersion, Kind: h.Kind},
		Version:  h.ResourceVersion, Continue: h.Continue, Remaining: h.RemainingItemCount, hasItems: h.Items != jsondecode.NoItems,
	}
}

// jsonEvents reads the events of a watch in JSON.
type jsonEvents struct{ events *jsondecode.Events }

func (e jsonEvents) next() (item, error) {
	kind, data, err := e.events.Next()
	return item{event: watch.EventType(kind), format: formatJSON, data: data}, err
}
