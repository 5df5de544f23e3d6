package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/heapsize"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// packing holds the objects of an informer packed. It is the codec of the store, and is safe for concurrent
// use.
//
// An object is packed on arrival, before the program has it. An object that the program has is never
// encoded again, because the program may have changed it. Objects that are put into the store by hand, or that packing would change, are pinned: held decoded.
type packing struct {
	kind    *pack.Kind
	goType  reflect.Type // of the objects that may be packed, nil for none
	onList  func(stored any) any
	onWalk  func(stored any) any
	observe func(Event)

	// encoded decodes objects that were encoded here. received decodes those of the first source that sends
	// their bytes. Each is set before the first of these objects is packed, and stays.
	encoded, received decoding
	packed            atomic.Uint64 // objects packed from a source's bytes, for sampling
	pinned            atomic.Int64  // stored objects that always stay decoded
	undecodable       atomic.Uint64 // reads of stored objects that could not be decoded
	detector          *detector     // of objects that are decoded for readers

	mu     sync.Mutex
	causes map[string]bool    // reported causes
	errors chan *StorageError // to report: has room for one of each cause, and for the first lost object
}

// decoding holds the decoder of some objects.
type decoding struct{ set atomic.Pointer[decodingOf] }

type decodingOf struct {
	objects any // identifies the decoder
	pack.Decoder
}

// use sets the decoder. It returns false if another decoder is set.
func (d *decoding) use(objects any, with pack.Decoder) bool {
	return d.set.CompareAndSwap(nil, &decodingOf{objects, with}) || d.set.Load().objects == objects
}

const (
	// ComparedFirst is the number of objects from bytes that are decoded again and compared. After them, one
	// in comparedOneIn is compared. A type may have its own decoder, which may not return the same object.
	ComparedFirst = 64
	comparedOneIn = 1024
	// MostCauses bounds the number of reported causes.
	MostCauses = 100
)

var _ indexer.Codec = (*packing)(nil)

// newPacking returns the packing of an informer, or nil without a budget. Objects of an interface type cannot
// be packed.
func newPacking(s Storage, t ObjectType, d *detector, observe func(Event)) *packing {
	if !s.packs() {
		return nil
	}
	p := &packing{observe: observe, detector: d, causes: map[string]bool{}, errors: make(chan *StorageError, MostCauses+1)}
	if goType := t.watched(); goType != nil && goType.Kind() == reflect.Pointer {
		p.goType = goType
	}
	held := p.goType
	if held == nil {
		held = reflect.TypeFor[*metav1.PartialObjectMetadata]() // nothing is packed
	}
	p.kind = pack.NewKind(pack.Options{
		Type: held, Budget: (*pack.Budget)(s.Decoded),
		Decode: p.decode, Meta: p.meta, Unreadable: p.lost,
		Weigh: func(decoded any) int64 {
			var w heapsize.Weigher
			w.Add(decoded)
			return w.Bytes()
		},
	})
	p.onList = func(stored any) any { return p.read(stored, pack.Main) }
	p.onWalk = func(stored any) any { return p.read(stored, pack.Nowhere) }
	return p
}

// packedObject is the stored form of an object. It shows the object's metadata but does not implement
// [metav1.Object], so that no code mistakes it for the object.
type packedObject pack.Object

// GetObjectMeta implements [metav1.ObjectMetaAccessor].
func (o *packedObject) GetObjectMeta() metav1.Object {
	m, err := (*pack.Object)(o).Meta()
	if err != nil {
		return nil
	}
	return object.Meta(m)
}

func unwrap(stored any) *pack.Object {
	o, _ := stored.(*packedObject)
	return (*pack.Object)(o)
}

// Encode implements [indexer.Codec]. It pins an object that was not packed on arrival.
func (p *packing) Encode(obj any) any {
	if o, ok := obj.(*packedObject); ok {
		return o
	}
	return (*packedObject)(p.kind.Pin(obj))
}

// Decode implements [indexer.Codec].
func (p *packing) Decode(stored any) any { return p.read(stored, pack.Main) }

// ForList implements [indexer.Codec]. A list that would take a large part of the budget does not use it.
func (p *packing) ForList(n int) func(stored any) any {
	if p.kind.RingFor(n) == pack.Main {
		return p.onList
	}
	return p.onWalk
}

// Count implements [indexer.Codec].
func (p *packing) Count(stored any, n int) {
	o := unwrap(stored)
	if o.IsPinned() {
		p.pinned.Add(int64(n))
	}
	p.kind.Count(o, n)
}

// forHandler decodes an object for a handler. Other handlers may need it soon.
func (p *packing) forHandler(stored any) any { return p.read(stored, pack.Transient) }

// read returns a decoded object, or nil if decoding fails.
func (p *packing) read(stored any, in pack.Ring) any {
	o := unwrap(stored)
	if v, ok := p.kind.Kept(o); ok {
		return v
	}
	obj, err := o.Value(in)
	if err != nil {
		return nil
	}
	p.detector.add(obj)
	return obj
}

// lost is called when an object cannot be read. It reports the first such object, without waiting.
func (p *packing) lost(o *pack.Object, err error) {
	if verify.On {
		verify.That(false, "a packed object cannot be decoded: %v", err)
	}
	if p.undecodable.Add(1) > 1 {
		return
	}
	e := &StorageError{Err: fmt.Errorf("%w: %w", ErrUnpackable, err)}
	if m, err := o.Meta(); err == nil {
		e.Key = object.Key(object.Meta(m))
	}
	p.errors <- e
}

func (p *packing) decode(data []byte, f pack.Form) (obj any, err error) {
	defer caught(&err)
	return p.decoderOf(f).Decode(data, f)
}

func (p *packing) meta(data []byte, f pack.Form) (m any, err error) {
	defer caught(&err)
	return p.decoderOf(f).Meta(data, f)
}

// caught turns a panic of a type's own methods into an error, except in verify mode.
func caught(err *error) {
	if verify.On {
		return
	}
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errTypePanicked, p)
	}
}

// decoderOf returns the decoder of objects in a form.
func (p *packing) decoderOf(f pack.Form) pack.Decoder {
	if f == pack.Marshalled {
		return p.encoded.set.Load()
	}
	return p.received.set.Load()
}

// Take implements [pack.Taker].
func (p *packing) Take(obj any, data []byte, f pack.Form) any {
	p.detector.add(obj)
	return p.pack(obj, data, f, sampled(p.packed.Add(1)) || verify.On)
}

// TakeUndecoded implements [pack.Taker]. It returns nil for an object that is to be decoded: a sample, or any
// object while the budget has room. In verify mode there are no samples, but each object is decoded, so that
// only a defect makes a packed object undecodable.
func (p *packing) TakeUndecoded(namespace, name string, data []byte, f pack.Form) any {
	if sampled(p.packed.Load()+1) && !verify.On || p.kind.HasRoom(len(data)) {
		return nil
	}
	if verify.On {
		if _, err := p.decode(data, f); err != nil {
			return nil
		}
	}
	o, err := p.kind.Pack(namespace, name, data, f)
	if err != nil {
		return nil
	}
	p.packed.Add(1)
	return (*packedObject)(o)
}

// sampled reports whether the nth object is compared with what its bytes decode to.
func sampled(n uint64) bool { return n <= ComparedFirst || n%comparedOneIn == 0 }

// fromObject returns the stored form of an object that has no bytes, or that has changed since it was
// decoded.
func (p *packing) fromObject(obj any) any {
	if stored, ok := obj.(*packedObject); ok {
		return stored
	}
	if p.goType == nil || reflect.TypeOf(obj) != p.goType {
		return p.pin(obj, fmt.Errorf("%w: %T", ErrNotPacked, obj))
	}
	data, err := marshal(obj)
	if err != nil {
		return p.pin(obj, err)
	}
	return p.pack(obj, data, pack.Marshalled, true)
}

func (p *packing) pack(obj any, data []byte, f pack.Form, compares bool) any {
	if compares {
		if err := p.compare(obj, data, f); err != nil {
			return p.pin(obj, err)
		}
	}
	m := object.Meta(obj)
	o, err := p.kind.Pack(m.GetNamespace(), m.GetName(), data, f)
	if err != nil {
		return p.pin(obj, err)
	}
	o.Keep(obj, len(data), pack.Main)
	return (*packedObject)(o)
}

// compare returns an error if the bytes decode to a different object.
func (p *packing) compare(obj any, data []byte, f pack.Form) error {
	again, err := p.decode(data, f)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(obj, again) {
		path, _ := difference(reflect.ValueOf(obj), reflect.ValueOf(again), func(a, b resource.Quantity) bool { return reflect.DeepEqual(a, b) })
		return fmt.Errorf("after encoding and decoding, it differs in %s", path)
	}
	return nil
}

// pin returns the stored form of an object that stays decoded, and reports why.
func (p *packing) pin(obj any, why error) any {
	p.tell(obj, why)
	return p.Encode(obj)
}

// tell queues an error about an object for report, once for each cause. Any goroutine may call it,
// including one of the program.
func (p *packing) tell(obj any, why error) {
	e := &StorageError{Err: why}
	if m := object.Meta(obj); m != nil {
		e.Key = object.Key(m)
	}
	p.mu.Lock()
	defer p.mu.Unlock()

	if cause := why.Error(); !p.causes[cause] && len(p.causes) < MostCauses {
		p.causes[cause] = true
		p.errors <- e
	}
}

// report reports errors, until ctx ends.
func (p *packing) report(ctx context.Context) {
	for {
		select {
		case e := <-p.errors:
			p.observe(e)
		case <-ctx.Done():
			return
		}
	}
}

// marshal encodes an object as protobuf if its type supports that, and as JSON otherwise. An object with a
// kind is encoded as JSON, because protobuf leaves the kind out.
func marshal(obj any) (data []byte, err error) {
	defer caught(&err)
	if u, ok := obj.(runtime.Unstructured); ok {
		return json.Marshal(u.UnstructuredContent())
	}
	o, encodes := obj.(interface {
		runtime.Object
		Marshal() ([]byte, error)
	})
	if encodes && o.GetObjectKind().GroupVersionKind().Empty() {
		return o.Marshal()
	}
	return json.Marshal(obj)
}

// StorageError reports an object of an informer with [Storage].Decoded that cannot be packed, and so stays
// decoded outside of the budget. Err is the reason, and names the first field that encoding and decoding
// change. Each reason is reported once. [StorageStatus].Pinned counts these objects.
//
// StorageError also reports the first packed object that could not be decoded. Either the server sent such bytes
// in a full state, which is packed without decoding, or there is a defect or broken memory. Reads leave the
// object out, and handlers do not get it. [StorageStatus].Undecodable counts these reads. The run reports the
// errors, so that no reader waits for the report.
type StorageError struct {
	Key indexer.Key // empty if it cannot be read
	Err error
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("storing object %.*q packed: %.*v", object.MaxText, e.Key, object.MaxText, e.Err)
}

// Unwrap returns the reason.
func (e *StorageError) Unwrap() error { return e.Err }
