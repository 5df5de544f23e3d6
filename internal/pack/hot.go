package pack

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// Value returns the decoded object. It returns the hot one, or decodes the object and keeps it in a ring. The
// errors are those of [Object.Meta].
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

// Kept returns the decoded form of a hot or pinned object. Readers that know the kind call Kept before
// [Object.Value], which finds the kind through other objects and so reads more memory.
func (k *Kind) Kept(o *Object) (v any, ok bool) {
	if o.IsPinned() {
		return *(*any)(o.hot), true
	}
	hot := atomic.LoadPointer(&o.hot)
	if hot == nil {
		return nil, false
	}
	if o.header()&readBit == 0 {
		atomic.OrUint32(o.blob, readBit)
	}
	return k.value(hot), true
}

// Keep makes an object hot if a ring has room for it, and returns the decoded object for all readers. If another
// goroutine was faster, that is the other one's. size is the number of encoded bytes. Keep ignores objects of
// another type. After Pack, call Keep before the program gets the decoded object.
func (o *Object) Keep(decoded any, size int, in Ring) any {
	k, w := o.kind(), (*words)(unsafe.Pointer(&decoded))
	if w.typ != k.typ || w.data == nil {
		return decoded
	}
	if verify.On {
		again, _, err := o.read(k.options.Decode)
		verify.That(err == nil && reflect.DeepEqual(again, decoded), "the %d bytes of an object decode to a different object: %v", size, err)
	}
	k.weights.record(k.options, decoded, size)
	return k.value(k.options.Budget.keep(o, k.weights.estimate(size), w.data, in))
}

// HasRoom reports whether a decoded object with size encoded bytes fits without evicting others.
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

// weights samples decoded objects of a kind: how many were seen, how many were weighed, and the encoded bytes
// and the memory of the weighed ones.
type weights struct{ seen, objects, bytes, memory atomic.Int64 }

// weighOneIn is the sampling rate: one in this many objects is weighed.
const weighOneIn = 64

func (w *weights) record(o Options, decoded any, size int) {
	if w.seen.Add(1)%weighOneIn == 1 {
		w.objects.Add(1)
		w.bytes.Add(int64(size))
		w.memory.Add(o.Weigh(decoded))
	}
}

// estimate returns the memory of a decoded object with size encoded bytes. It is never less than size.
func (w *weights) estimate(size int) int64 {
	factor := float64(w.memory.Load()) / float64(max(1, w.bytes.Load()))
	return max(1, int64(float64(size)*max(1, factor)))
}

// RingFor returns the ring for reading a list of n objects. It is Nowhere if they would fill more than a quarter
// of the budget, so that reading the whole store does not evict the hot objects.
func (k *Kind) RingFor(n int) Ring {
	w := &k.weights
	if float64(n)*float64(w.memory.Load()) > float64(w.objects.Load())*float64(k.options.Budget.limit)/4 {
		return Nowhere
	}
	return Main
}
