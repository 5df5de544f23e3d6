package jsondecode

import (
	"errors"
	"fmt"
	"io"
)

const (
	// leastBuffer and spareBuffer limit the size of the buffer for small values. spareWatch limits that
	// of a watch, which may be idle for a long time.
	leastBuffer = 4 << 10
	spareBuffer = 256 << 10
	spareWatch  = 64 << 10
)

// stream reads JSON as it arrives. It keeps all bytes since the last call of hold, including those read
// ahead.
type stream struct {
	body  io.Reader // nil if buf is the whole input
	buf   []byte
	held  int  // buf[held:pos] does not change
	pos   int  // the position of the next byte
	limit int  // the limit of pos-held
	spare int  // larger buffers are released
	keeps bool // skipped bytes are held too, because a value before them is still needed
	busy  bool // the last read filled a good part of the buffer
	err   error

	open []byte // memory for a finder's brackets
}

func newStream(body io.Reader, spare int) stream {
	return stream{body: body, limit: longest, spare: spare}
}

// hold releases the bytes before the current position.
func (s *stream) hold() { s.held = s.pos }

// fill reads at least one more byte. Positions in buf may move, together with held.
func (s *stream) fill() error {
	if s.pos-s.held > s.limit || len(s.buf)-s.held > s.limit {
		return s.tooLarge()
	}
	if s.body == nil {
		return io.EOF
	}
	s.room()
	for tries := 0; s.err == nil; tries++ {
		n, err := s.body.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf, s.err = s.buf[:len(s.buf)+n], err
		s.busy = len(s.buf) == cap(s.buf) && n >= cap(s.buf)/2
		if n > 0 {
			return nil
		}
		if tries == 100 {
			s.err = io.ErrNoProgress
		}
	}
	return s.err
}

func (s *stream) tooLarge() error {
	return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, s.limit)
}

// room makes room after the bytes that were read.
func (s *stream) room() {
	left, all := len(s.buf)-s.held, cap(s.buf)
	switch {
	case all > s.spare && left <= s.spare/16:
		s.move(make([]byte, s.spare/4))
	case left > all/2, s.busy && all < s.spare/4, all == 0:
		if len(s.buf) == all || s.busy {
			s.move(make([]byte, max(2*all, leastBuffer)))
		}
	case left == 0, len(s.buf) == all:
		s.move(s.buf[:all])
	}
}

func (s *stream) move(to []byte) {
	n := copy(to, s.buf[s.held:])
	s.buf, s.pos, s.held = to[:n], s.pos-s.held, 0
}

// peek skips whitespace and returns the next byte. It does not hold the whitespace, because a server may
// send any amount, for instance between two events.
func (s *stream) peek() (byte, error) {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			if c := s.buf[s.pos]; !isSpace(c) {
				return c, nil
			}
		}
		if !s.keeps {
			s.hold()
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// within is peek inside a value, where the body must not end.
func (s *stream) within() (byte, error) {
	c, err := s.peek()
	return c, cut(err)
}

// cut turns an end of the body inside a value into an error.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *stream) expect(want byte) error {
	c, err := s.within()
	if err != nil {
		return err
	}
	if c != want {
		return fmt.Errorf("%w: %q instead of %q", ErrMalformed, c, want)
	}
	s.pos++
	return nil
}

// another reports whether an object or array has another member. begun means that a member has been
// read. last is the closing bracket.
func (s *stream) another(begun bool, last byte) (bool, error) {
	c, err := s.within()
	if err != nil {
		return false, err
	}
	switch {
	case c == last:
		s.pos++
		return false, nil
	case !begun:
		return true, nil
	case c == ',':
		s.pos++
		return true, nil
	}
	return false, fmt.Errorf("%w: %q after a value", ErrMalformed, c)
}

// member reads the key of the next member of an object. It returns false at the end of the object. begun
// means that a member has been read.
func (s *stream) member(begun bool) (key string, more bool, err error) {
	if more, err = s.another(begun, '}'); err == nil && more {
		key, err = s.key()
	}
	return key, more, err
}

// key reads a key and its colon. It returns "" if the key is not a known one.
func (s *stream) key() (string, error) {
	if c, err := s.within(); err != nil {
		return "", err
	} else if c != '"' {
		return "", fmt.Errorf("%w: %q instead of a key", ErrMalformed, c)
	}
	raw, err := s.value()
	if err != nil {
		return "", err
	}
	key, ok := known(raw)
	if !ok {
		return "", fmt.Errorf("%w: key %.100q", ErrMalformed, raw)
	}
	return key, s.expect(':')
}

// known returns the known key that equals a string, or "". It also returns whether the string is
// well-formed.
func known(raw []byte) (key string, ok bool) {
	end, k := stringEnd(raw, 0)
	if end != len(raw) {
		return "", false
	}
	name := raw[1 : end-1]
	if k == kindEscaped {
		name = appendUnquoted(nil, name)
	}
	for _, key := range [...]string{"name", "namespace", "uid", "resourceVersion", "metadata", "kind", "apiVersion", "items", "type", "object"} {
		if string(name) == key {
			return key, true
		}
	}
	return "", true
}

// unquote returns the content of a string. It returns false if raw is not a string.
func unquote(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	end, k := stringEnd(raw, 0)
	switch {
	case end != len(raw):
		return "", false
	case k == kindString:
		return string(raw[1 : end-1]), true
	}
	return string(appendUnquoted(nil, raw[1:end-1])), true
}

// value reads a value of any size up to the limit. It finds the end by quotes and brackets, and does not
// check the value, because the decoder does. The bytes are valid until hold is called and more is read.
func (s *stream) value() ([]byte, error) {
	if _, err := s.within(); err != nil {
		return nil, err
	}
	start, f := s.pos-s.held, finder{open: s.open[:0]}
	for {
		n, found := f.find(s.buf[s.held+start:])
		if found && n == 0 {
			return nil, fmt.Errorf("%w: %q instead of a value", ErrMalformed, s.buf[s.pos])
		}
		if f.where == broken {
			return nil, fmt.Errorf("%w: mismatched brackets", ErrMalformed)
		}
		if n > s.limit {
			return nil, s.tooLarge()
		}
		if found {
			if s.open = f.open; cap(s.open) > spare {
				s.open = nil
			}
			s.pos = s.held + start + n
			return s.buf[s.held+start : s.pos : s.pos], nil
		}
		if err := s.fill(); err != nil {
			if errors.Is(err, io.EOF) && f.scalar() {
				s.pos = len(s.buf)
				return s.buf[s.held+start : s.pos : s.pos], nil
			}
			return nil, cut(err)
		}
	}
}

// skip skips and checks a value. It holds one string or number at a time, unless the stream keeps all
// bytes.
func (s *stream) skip(depth int) error {
	if !s.keeps {
		s.hold()
	}
	c, err := s.within()
	if err != nil {
		return err
	}
	if c != '{' && c != '[' {
		raw, err := s.value()
		if err != nil {
			return err
		}
		var t text
		if !t.scan(raw) {
			return fmt.Errorf("%w: %.100q is not a value", ErrMalformed, raw)
		}
		return nil
	}
	if depth++; depth > deepest {
		return fmt.Errorf("%w: nested too deeply", ErrMalformed)
	}
	return s.skipIn(c, depth)
}

func (s *stream) skipIn(bracket byte, depth int) error {
	s.pos++
	for begun := false; ; begun = true {
		more, err := s.another(begun, bracket+2) // '}' is '{' plus 2, and ']' is '[' plus 2
		if err != nil || !more {
			return err
		}
		if bracket == '{' {
			if _, err := s.key(); err != nil {
				return err
			}
		}
		if err := s.skip(depth); err != nil {
			return err
		}
	}
}

// finder finds the end of a value while its bytes arrive.
type finder struct {
	at    int    // the number of examined bytes; the byte after a backslash may not have arrived yet
	open  []byte // the closing bracket of each open object and array
	where where
}

// A where is the state of a finder.
type where uint8

const (
	nowhere where = iota
	inBrackets
	inString
	inScalar
	broken // a closing bracket does not match the last open one
)

func (f *finder) scalar() bool { return f.where == inScalar }

// find returns the length of the value at the beginning of b. b grows with each call.
func (f *finder) find(b []byte) (n int, found bool) {
	if f.where == nowhere {
		f.begin(b[0])
	}
	for f.at < len(b) && f.where != broken {
		switch f.where {
		case inString:
			if f.inString(b) && len(f.open) == 0 {
				return f.at, true
			}
		case inScalar:
			if c := b[f.at]; isSpace(c) || c == ',' || c == '}' || c == ']' {
				return f.at, true
			}
			f.at++
		default:
			if f.inBrackets(b) {
				return f.at, true
			}
		}
	}
	return 0, false
}

func (f *finder) begin(c byte) {
	switch c {
	case '{', '[':
		f.where = inBrackets
	case '"':
		f.where, f.at = inString, 1
	default:
		f.where = inScalar
	}
}

// inString looks for the end of a string, and reports whether it has found it.
func (f *finder) inString(b []byte) bool {
	for f.at < len(b) {
		f.at = plainEnd(b, f.at)
		if f.at >= len(b) {
			return false
		}
		switch b[f.at] {
		case '"':
			f.at++
			f.where = inBrackets
			return true
		case '\\':
			f.at += 2
		default:
			f.at++
		}
	}
	return false
}

// inBrackets looks for the end of the outermost object or array, and reports whether it has found it. It
// stops at the beginning of a string. It also stops at a mismatched bracket, because otherwise it would
// treat everything that follows as part of the value.
func (f *finder) inBrackets(b []byte) bool {
	for f.at < len(b) {
		c := b[f.at]
		f.at++
		switch c {
		case '"':
			f.where = inString
			return false
		case '{', '[':
			f.open = append(f.open, c+2) // '}' is '{' plus 2, and ']' is '[' plus 2
		case '}', ']':
			last := len(f.open) - 1
			if f.open[last] != c {
				f.where = broken
				return false
			}
			if f.open = f.open[:last]; last == 0 {
				return true
			}
		}
	}
	return false
}
