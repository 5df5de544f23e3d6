package jsondecode

import (
	"fmt"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// mostMetadata limits the size of a list's metadata.
const mostMetadata = 1 << 20

// Items is the state of a list's "items".
type Items uint8

const (
	// NoItems means that there is no key "items". A Status has none.
	NoItems Items = iota
	// NullItems means that "items" is null.
	NullItems
	// SomeItems means that "items" is an array, possibly empty.
	SomeItems
)

// ListHead is a list without its items.
type ListHead struct {
	APIVersion, Kind   string
	ResourceVersion    string
	Continue           string
	RemainingItemCount *int64
	Items              Items
}

// List reads the items of a list one by one as they arrive.
type List struct {
	stream stream
	head   ListHead
	place  place
	begun  bool     // a member of the list, or an item, was read
	read   []string // the names of the known members that were read
	err    error
}

// A place is the position of the reader in a list.
//
// beforeList -> inList <-> inItems; inList -> behindList
type place uint8

const (
	beforeList place = iota
	inList
	inItems
	behindList
)

// NewList returns a reader of the list in a body.
func NewList(body io.Reader) *List { return &List{stream: newStream(body, spareBuffer)} }

// Head returns the list's head as far as it has been read: the part before the items, or the whole head
// after Next has returned io.EOF.
func (l *List) Head() ListHead { return l.head }

// Next returns the bytes of the next item, valid until the next call. It finds the end of an item by its
// brackets, and does not check the item, because the decoder does. At the end of the list, Next returns
// io.EOF if only whitespace follows. After an error, it returns the same error again.
func (l *List) Next() (item []byte, err error) {
	if l.err != nil {
		return nil, l.err
	}
	item, err = l.next()
	if err != nil {
		l.err = err
	}
	return item, err
}

func (l *List) next() ([]byte, error) {
	for {
		l.stream.hold()
		switch l.place {
		case beforeList:
			if err := l.stream.expect('{'); err != nil {
				return nil, err
			}
			l.place = inList
		case inList:
			if err := l.member(); err != nil {
				return nil, err
			}
		case inItems:
			more, err := l.stream.another(l.begun, ']')
			if err != nil {
				return nil, err
			}
			l.begun = true
			if more {
				return l.item()
			}
			l.place = inList
		default:
			return nil, l.stream.end()
		}
	}
}

func (l *List) item() ([]byte, error) {
	if _, err := l.stream.within(); err != nil {
		return nil, err
	}
	l.stream.hold()
	return l.stream.value()
}

// member reads a member of the list, or up to the first item.
func (l *List) member() error {
	key, more, err := l.stream.member(l.begun)
	if err != nil {
		return err
	}
	l.begun = true
	if !more {
		l.place = behindList
		return nil
	}
	l.stream.hold()
	switch key {
	case "items", "apiVersion", "kind", "metadata":
		return l.known(key)
	}
	return l.stream.skip(1)
}

// known reads a known member. A duplicate is an error, because decoders handle it differently, and no
// server sends it.
func (l *List) known(key string) error {
	if slices.Contains(l.read, key) {
		return fmt.Errorf("%w: a list with two members %q", ErrMalformed, key)
	}
	l.read = append(l.read, key)
	switch key {
	case "items":
		return l.items()
	case "apiVersion":
		return l.string(&l.head.APIVersion)
	case "kind":
		return l.string(&l.head.Kind)
	default:
		return l.metadata()
	}
}

func (l *List) items() error {
	c, err := l.stream.within()
	if err != nil {
		return err
	}
	if c == '[' {
		l.stream.pos++
		l.head.Items, l.place, l.begun = SomeItems, inItems, false
		return nil
	}
	raw, err := l.stream.value()
	if err != nil {
		return err
	}
	if string(raw) != "null" {
		return fmt.Errorf("%w: the items of a list are not an array", ErrMalformed)
	}
	l.head.Items = NullItems
	return nil
}

// string reads a string or null.
func (l *List) string(s *string) error {
	raw, err := l.stream.value()
	if err != nil {
		return err
	}
	if string(raw) == "null" {
		return nil
	}
	var ok bool
	if *s, ok = unquote(raw); !ok {
		return fmt.Errorf("%w: %.100q is not a string", ErrMalformed, raw)
	}
	return nil
}

func (l *List) metadata() error {
	all := l.stream.limit
	l.stream.limit = min(all, mostMetadata)
	raw, err := l.stream.value()
	l.stream.limit = all
	if err != nil {
		return err
	}
	var m metav1.ListMeta
	if err := utiljson.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("%w: list metadata: %w", ErrMalformed, err)
	}
	l.head.ResourceVersion, l.head.Continue, l.head.RemainingItemCount = m.ResourceVersion, m.Continue, m.RemainingItemCount
	return nil
}

// end returns io.EOF if only whitespace is left.
func (s *stream) end() error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %q after the end", ErrMalformed, c)
}
