package jsondecode

import (
	"fmt"
	"io"
)

// Events reads the events of a watch as they arrive.
type Events struct {
	stream stream
	err    error
}

// NewEvents returns a reader of the events in a body.
func NewEvents(body io.Reader) *Events {
	return &Events{stream: newStream(body, spareWatch)}
}

// Next returns the type and the object of the next event. The object is nil if the event has none. It is
// valid until the next call. Next does not check the object, because its decoder does. If the body ends
// between events, Next returns io.EOF. After an error, it returns the same error again.
func (e *Events) Next() (typ string, object []byte, err error) {
	if e.err != nil {
		return "", nil, e.err
	}
	e.stream.hold()
	e.stream.keeps = false
	if _, err = e.stream.peek(); err == nil {
		e.stream.hold()
		typ, object, err = e.next()
	}
	if err != nil {
		e.err = err
		return "", nil, err
	}
	return typ, object, nil
}

func (e *Events) next() (typ string, object []byte, err error) {
	if err := e.stream.expect('{'); err != nil {
		return "", nil, err
	}
	var found span
	for begun := false; ; begun = true {
		key, more, err := e.stream.member(begun)
		if err != nil {
			return "", nil, err
		}
		if !more {
			return typ, found.in(&e.stream), nil
		}
		if err := e.member(key, &typ, &found); err != nil {
			return "", nil, err
		}
	}
}

func (e *Events) member(key string, typ *string, object *span) error {
	if key != "type" && key != "object" {
		return e.stream.skip(1)
	}
	raw, err := e.stream.value()
	if err != nil {
		return err
	}
	if string(raw) == "null" {
		return nil
	}
	if key == "object" {
		if t := (text{}); object.length > 0 && !t.scan(object.in(&e.stream)) {
			return fmt.Errorf("%w: a malformed object before a second one", ErrMalformed) // its decoder will not see it
		}
		e.stream.keeps = true // keep what follows it
		*object = span{e.stream.pos - e.stream.held - len(raw), len(raw)}
		return nil
	}
	var ok bool
	if *typ, ok = unquote(raw); !ok {
		return fmt.Errorf("%w: %.100q is not an event type", ErrMalformed, raw)
	}
	return nil
}

// span is a part of a stream's buffer.
type span struct{ start, length int }

func (p span) in(s *stream) []byte {
	if p.length == 0 {
		return nil
	}
	from := s.held + p.start
	return s.buf[from : from+p.length : from+p.length]
}
