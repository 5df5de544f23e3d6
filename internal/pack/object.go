package pack

import (
	"sync/atomic"
	"unsafe"
)

// Form says how the bytes of an object are to be decoded: equal bytes may be different objects. The
// functions of the kind get it with the bytes.
type Form uint8

const (
	// Event is the form of an event's object, and of the answer to a write.
	Event Form = iota
	// Item is the form of a list's item.
	Item
	// Marshalled is the form of an object that this process has encoded.
	Marshalled
)

// An Object is what a store holds of an object: 24 bytes, and those of its blob. [Kind.Pack] and
// [Kind.Pin] make it. Any goroutine may use it.
type Object struct {
	// base is what the blob is a difference to: another object, or a root of a generation, which stands
	// for the dictionary.
	// Invariant: base is a root, or base.base is. Only an object whose base is a root is packed anew.
	base atomic.Pointer[Object]
	// blob points to a header, which is followed by the content. A pinned object has none.
	blob atomic.Pointer[uint32]
	// hot is the decoded object, of the kind's type, or nil. A pinned object's is a pointer to an
	// interface value, and a root's is the generation. It is used atomically.
	hot unsafe.Pointer
}

// The header of a blob is, from its lowest bit on: the form; whether the content is the object's bytes
// themselves, raw; whether the object has been read; and the length of the content. Only readBit
// changes.
const (
	formBits   = 0b0011
	rawBit     = 0b0100
	readBit    = 0b1000
	lengthBits = 4 // below the length
	headerSize = 4
)

// newBlob returns a blob with a copy of the content. It is made of words, since the header is used
// atomically.
func newBlob(content []byte, header uint32) *uint32 {
	words := make([]uint32, 1+(len(content)+3)/4)
	words[0] = uint32(len(content))<<lengthBits | header
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 4*len(words))[headerSize:], content)
	return &words[0]
}

// newPacked returns the blob of a difference, or of the bytes themselves if that is nil.
func newPacked(d, data []byte, f Form) *uint32 {
	if d == nil {
		return newBlob(data, uint32(f)|rawBit)
	}
	return newBlob(d, uint32(f))
}

// view is what an object is made of at one moment.
type view struct {
	base *Object
	blob *uint32
}

// view returns a base and a blob that belong together: the blob has not changed while the base was read. See change.
func (o *Object) view() (v view) {
	for v.blob = o.blob.Load(); ; {
		v.base = o.base.Load()
		again := o.blob.Load()
		if again == v.blob {
			return v
		}
		v.blob = again
	}
}

// change gives an object another root and blob, for the same bytes. Meanwhile it has a raw blob, which belongs to any
// base. The caller has the kind's locks.
func (o *Object) change(root *Object, raw, blob *uint32) {
	o.blob.Store(raw)
	o.base.Store(root)
	o.blob.Store(blob)
}

func (v view) header() uint32 { return atomic.LoadUint32(v.blob) }

func (v view) form() Form { return Form(v.header() & formBits) }

func (v view) content() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v.blob)), headerSize+v.header()>>lengthBits)[headerSize:]
}

// kind returns the kind of the object.
func (o *Object) kind() *Kind {
	root := o.base.Load()
	if base := root.base.Load(); base != nil {
		root = base
	}
	return root.generation().kind
}

// generation returns the generation of a root.
func (o *Object) generation() *generation { return (*generation)(o.hot) }

// IsPinned reports whether the object is held decoded for ever, and has no bytes.
func (o *Object) IsPinned() bool { return o.blob.Load() == nil }

// Pinned returns an object that is held decoded for ever, or false for a packed one.
func (o *Object) Pinned() (obj any, ok bool) {
	if !o.IsPinned() {
		return nil, false
	}
	return *(*any)(o.hot), true
}

// Size returns the bytes of an object while it is not hot, without its base's. [Kind.Count] adds them up.
func (o *Object) Size() int64 {
	size := int64(unsafe.Sizeof(*o))
	if !o.IsPinned() {
		size += headerSize + (int64(len(o.view().content()))+3)&^3
	}
	return size
}

// Meta returns what the kind's function reads of an object's metadata, without decoding the rest, or a
// pinned object itself. Whoever compares stored objects calls it. The error is the function's, or
// [ErrDamaged].
func (o *Object) Meta() (any, error) {
	if o.IsPinned() {
		return *(*any)(o.hot), nil
	}
	v, _, err := o.read(o.kind().options.Meta)
	return v, err
}

// scratch is the memory of one reader.
type scratch struct {
	data []byte
	base openBase
}

// read calls a function of the kind with the object's bytes, and returns their number as well.
func (o *Object) read(f func(data []byte, form Form) (any, error)) (v any, size int, err error) {
	k := o.kind()
	s := k.scratches.Get().(*scratch)
	defer k.scratches.Put(s)

	now := o.view()
	if s.data, err = now.undo(s.data[:0], &s.base); err == nil {
		v, err = f(s.data, now.form())
	}
	if err != nil && k.options.Unreadable != nil {
		k.options.Unreadable(o, err)
	}
	return v, len(s.data), err
}

// undo appends the bytes of an object that is not pinned. Its base may be undone into spare.
func (o *Object) undo(dst []byte, spare *openBase) ([]byte, error) {
	return o.view().undo(dst, spare)
}

func (v view) undo(dst []byte, spare *openBase) ([]byte, error) {
	base, err := v.open(spare)
	switch {
	case err != nil:
		return dst, err
	case v.header()&rawBit != 0:
		return append(dst, v.content()...), nil
	}
	return undo(dst, base.data, v.content())
}

// open returns what the blob is a difference to. It may be undone into spare.
func (v view) open(spare *openBase) (*openBase, error) {
	if v.base.base.Load() == nil {
		return v.base.generation().dictionary.Load(), nil
	}
	return v.base.kind().toRead.open(v.base, spare)
}
