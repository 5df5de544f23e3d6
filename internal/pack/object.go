package pack

import (
	"sync/atomic"
	"unsafe"
)

// Form says how to decode the bytes of an object, because equal bytes may mean different objects. The kind's
// functions get the form with the bytes.
type Form uint8

const (
	// Event is the form of an object in a watch event, or in the answer to a write.
	Event Form = iota
	// Item is the form of an item of a list.
	Item
	// Marshalled is the form of an object that this process has encoded.
	Marshalled
)

// An Object is the stored form of an object: 24 bytes plus its blob. [Kind.Pack] and [Kind.Pin] make it. Any
// goroutine may use it.
type Object struct {
	// base is what the blob is a difference to: another object, or a root, which stands for the dictionary
	// of its generation.
	// Invariant: base or base.base is a root.
	base *Object
	// blob points to a header, which the content follows. A pinned object has no blob.
	blob *uint32
	// hot is the decoded object, of the kind's type, or nil. In a pinned object it points to an interface
	// value, and in a root to the generation. Access is atomic.
	hot unsafe.Pointer
}

// The header of a blob has these parts, from the lowest bit: the form; whether the content is raw, which means
// the object's bytes and not a difference; whether the object has been read; and the length of the content.
// Only readBit changes.
const (
	formBits   = 0b0011
	rawBit     = 0b0100
	readBit    = 0b1000
	lengthBits = 4 // number of bits below the length
	headerSize = 4
)

// newBlob returns a blob with a copy of the content. The blob is allocated as words, because access to the
// header is atomic.
func newBlob(content []byte, header uint32) *uint32 {
	words := make([]uint32, 1+(len(content)+3)/4)
	words[0] = uint32(len(content))<<lengthBits | header
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 4*len(words))[headerSize:], content)
	return &words[0]
}

func (o *Object) header() uint32 { return atomic.LoadUint32(o.blob) }

func (o *Object) form() Form { return Form(o.header() & formBits) }

func (o *Object) content() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(o.blob)), headerSize+o.header()>>lengthBits)[headerSize:]
}

// kind returns the kind of the object.
func (o *Object) kind() *Kind {
	root := o.base
	if root.base != nil {
		root = root.base
	}
	return root.generation().kind
}

// generation returns the generation of a root.
func (o *Object) generation() *generation { return (*generation)(o.hot) }

// IsPinned reports whether the object always stays decoded, and so has no bytes.
func (o *Object) IsPinned() bool { return o.blob == nil }

// Pinned returns a pinned object, or false if the object is packed.
func (o *Object) Pinned() (obj any, ok bool) {
	if !o.IsPinned() {
		return nil, false
	}
	return *(*any)(o.hot), true
}

// Size returns the bytes of an object without its decoded form and its base.
func (o *Object) Size() int64 {
	size := int64(unsafe.Sizeof(*o))
	if !o.IsPinned() {
		size += headerSize + (int64(len(o.content()))+3)&^3
	}
	return size
}

// Meta returns the result of the kind's Meta function, or a pinned object itself. The error is the function's,
// or [ErrDamaged].
func (o *Object) Meta() (any, error) {
	if o.IsPinned() {
		return *(*any)(o.hot), nil
	}
	v, _, err := o.read(o.kind().options.Meta)
	return v, err
}

// scratch is the buffers of one reader.
type scratch struct {
	data []byte
	base baseData
}

// read calls f with the object's bytes, and returns its result and the number of bytes.
func (o *Object) read(f func(data []byte, form Form) (any, error)) (v any, size int, err error) {
	k := o.kind()
	s := k.scratches.Get().(*scratch)
	defer k.scratches.Put(s)

	if s.data, err = o.unpack(s.data[:0], &s.base); err == nil {
		v, err = f(s.data, o.form())
	}
	if err != nil && k.options.Unreadable != nil {
		k.options.Unreadable(o, err)
	}
	return v, len(s.data), err
}

// unpack appends the bytes of an object, which must not be pinned, to dst. It may unpack the base into spare.
func (o *Object) unpack(dst []byte, spare *baseData) ([]byte, error) {
	base, err := o.baseData(spare)
	switch {
	case err != nil:
		return dst, err
	case o.header()&rawBit != 0:
		return append(dst, o.content()...), nil
	}
	return apply(dst, base.data, o.content())
}

// baseData returns the data that the blob is a difference to. It may unpack the base into spare.
func (o *Object) baseData(spare *baseData) (*baseData, error) {
	if o.base.base == nil {
		return o.base.generation().dictionary.Load(), nil
	}
	return o.base.kind().readCache.get(o.base, spare)
}
