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
	// lengthSize is the size of the length at the beginning of each frame.
	lengthSize = 4
	// headSize is the size of the part of a frame that is read. The names, UID and version of an
	// object come first, and need no more.
	headSize = 1024
	// maxFrame is four times client-go's limit. The first byte of a frame's length is never a blank,
	// with which JSON may begin.
	maxFrame = 1 << 26
)

// errFrame is the error for a body that is no stream of frames.
var errFrame = fmt.Errorf("%w: a frame of more than 64 MiB", ErrBadAnswer)

// frames is the body of a protobuf stream without the known objects: a bookmark with the object's
// name replaces each. It checks Added events up to the first bookmark, the end of the initial
// state. The rest passes through.
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

// Read reads the rest of the present frame, or from the next one.
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

// next passes the next frame on, or replaces it.
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

// passThrough passes on the buffer, and then the rest.
func (f *frames) passThrough(rest io.Reader) {
	buffered, _ := f.in.Peek(f.in.Buffered()) // they are there
	f.rest = io.MultiReader(bytes.NewReader(buffered), rest)
	f.in = nil
}

// peek returns the size of the next frame, length included, and its head. The error is the
// body's, or means that the frame is not understood.
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

// failed is a reader that returns only an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// unexpected is the error of a body that ends within a frame.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
