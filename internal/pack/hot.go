package pack

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// Value returns an object decoded: the hot one, or it is decoded anew and kept in a ring. Whoever reads
// a store, or delivers to handlers, calls it. The errors are those of [Object.Meta].
func (o *Object) Value(in Ring) (any, error) {
	if v, ok := o.kind().Kept(o); ok {
		return v, nil
	}
	v, size, err := o.read(o.kind().options.Decode)
	o.kind().decodes.Add(1)
	if err != nil {
		return nil, err
	}
	return o.Keep(v, size, in), nil
}

// Kept returns an object of the kind that is decoded already: a hot or a pinned one. A reader that has the kind
// calls it before [Object.Value], which looks the kind up in the memory of other objects.
func (k *Kind) Kept(o *Object) (v any, ok bool) {
	if o.IsPinned() {
		return *(*any)(o.hot), true
	}
	hot := atomic.LoadPointer(&o.hot)
	if hot == nil {
		return nil, false
	}
	if blob := o.blob.Load(); atomic.LoadUint32(blob)&readBit == 0 {
		atomic.OrUint32(blob, readBit)
	}
	return k.value(hot), true
}

// Keep makes an object of so many bytes hot, if a ring has room for it, and returns what everybody gets:
// the hot one, if another goroutine was faster. Whoever has packed an object calls it, before anybody
// gets the decoded one. What is not of the kind's type is not kept.
func (o *Object) Keep(decoded any, size int, in Ring) any {
	k, w := o.kind(), (*words)(unsafe.Pointer(&decoded))
	if w.typ != k.typ || w.data == nil {
		return decoded
	}
	if verify.On {
		again, _, err := o.read(k.options.Decode)
		verify.That(err == nil && reflect.DeepEqual(again, decoded), "an object of %d bytes is kept that decodes to another: %v", size, err)
	}
	k.weights.note(k.options, decoded, size)
	return k.value(k.options.Budget.keep(o, k.weights.estimate(size), w.data, in))
}

// HasRoom reports whether a decoded object of so many bytes could be kept without making others cold.
func (k *Kind) HasRoom(size int) bool {
	return k.options.Budget.hasRoom(k.weights.estimate(size))
}

// words are the two words of an interface value.
type words struct{ typ, data unsafe.Pointer }

// value returns a hot object.
func (k *Kind) value(hot unsafe.Pointer) (v any) {
	*(*words)(unsafe.Pointer(&v)) = words{k.typ, hot}
	return v
}

// weights are those of some decoded objects of a kind: how many, their bytes, and their memory.
type weights struct{ met, objects, bytes, memory atomic.Int64 }

// weighedOneIn says of how many objects one is weighed.
const weighedOneIn = 64

func (w *weights) note(o Options, decoded any, size int) {
	if w.met.Add(1)%weighedOneIn == 1 {
		w.objects.Add(1)
		w.bytes.Add(int64(size))
		w.memory.Add(o.Weigh(decoded))
	}
}

// estimate returns the memory of a decoded object of so many bytes. It takes no less than these.
func (w *weights) estimate(size int) int64 {
	factor := float64(w.memory.Load()) / float64(max(1, w.bytes.Load()))
	return max(1, int64(float64(size)*max(1, factor)))
}

// RingFor returns the ring for reading a list of n objects: nowhere, if they would fill more than a
// quarter of the budget. So a walk through a whole store leaves hot what is hot.
func (k *Kind) RingFor(n int) Ring {
	w := &k.weights
	if float64(n)*float64(w.memory.Load()) > float64(w.objects.Load())*float64(k.options.Budget.limit)/4 {
		return Nowhere
	}
	return Main
}
