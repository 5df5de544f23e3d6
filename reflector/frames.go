package reflector

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/watch"
)

const (
	// lengthSize is the size of the length that each frame begins with.
	lengthSize = 4
	// headSize is how much of a frame is looked at. The names, the UID and the
	// version of an object come first in it, and take no more.
	headSize = 1024
	// maxFrame is more than client-go takes.
	maxFrame = 1 << 30
)

// errFrame ends a body that cannot be a stream of frames.
var errFrame = fmt.Errorf("%w: a frame of more than a gigabyte", ErrBadAnswer)

// frames is the body of a stream in protobuf, out of which the objects are left
// that are known: in the place of each stands a bookmark that names it. It looks
// at what is Added, up to the first bookmark, with which the initial state ends.
// From there on all passes through.
type frames struct {
	body  io.ReadCloser
	known omitter
	in    *bufio.Reader // the body, while frames are looked at

	stub  []byte    // what is left to be read of the present one
	frame int       // how much is left to be read of the present frame
	rest  io.Reader // what passes through, once it does
}

func newFrames(body io.ReadCloser, known omitter) *frames {
	return &frames{body: body, known: known, in: bufio.NewReaderSize(body, 1<<16)}
}

// Close closes the body.
func (f *frames) Close() error { return f.body.Close() }

// Read reads what is left of the present frame, or of the next.
func (f *frames) Read(p []byte) (int, error) {
	if f.rest == nil && len(f.stub) == 0 && f.frame == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	switch {
	case len(f.stub) > 0:
		n := copy(p, f.stub)
		f.stub = f.stub[n:]
		return n, nil
	case f.rest != nil:
		return f.rest.Read(p)
	}
	n, err := f.in.Read(p[:min(len(p), f.frame)])
	f.frame -= n
	return n, err
}

// next decides what becomes of the next frame.
func (f *frames) next() error {
	size, h, err := f.peek()
	switch {
	case err != nil:
		f.passThrough(failed{err})
	case h.event == string(watch.Added) && h.named() && f.known.omit(h.id):
		stub := h.stub() // now, since what h tells is in the buffer
		if _, err := f.in.Discard(size); err != nil {
			return unexpected(err)
		}
		f.stub = stub
	case h.event == string(watch.Bookmark):
		f.passThrough(f.body)
	default:
		f.frame = size
	}
	return nil
}

// passThrough lets pass what is in the buffer, and then the rest.
func (f *frames) passThrough(rest io.Reader) {
	buffered, _ := f.in.Peek(f.in.Buffered()) // they are there
	f.rest = io.MultiReader(bytes.NewReader(buffered), rest)
	f.in = nil
}

// peek returns the size of the next frame with its length, and its head. The
// error is that of the body, or says that there is nothing to be understood.
func (f *frames) peek() (size int, h head, err error) {
	length, err := f.in.Peek(lengthSize)
	if err != nil {
		return 0, head{}, err
	}
	n := binary.BigEndian.Uint32(length)
	if n > maxFrame {
		return 0, head{}, errFrame
	}
	frame, err := f.in.Peek(lengthSize + min(int(n), headSize))
	if err != nil {
		return 0, head{}, err
	}
	return lengthSize + int(n), readHead(frame[lengthSize:]), nil
}

// failed is a reader of nothing but an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// unexpected is the error of a body that ends within a frame.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
