package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/heapsize"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// packing holds the objects of an informer packed. It is the codec of the store, and any goroutine may use it.
//
// An object is packed where it arrives, before anybody has got it, and whatever a program has got is never
// read again. What is put into the store by hand, or does not survive packing, is pinned: held decoded.
type packing struct {
	kind    *pack.Kind
	goType  reflect.Type // of the objects that may be packed, nil for none
	onList  func(stored any) any
	onWalk  func(stored any) any
	observe func(Event)

	// encoded decodes objects that have been encoded here, received those of the first source that sends
	// their bytes. Each is set before the first of these objects is packed, and stays.
	encoded, received decoding
	packed            atomic.Uint64 // the number of objects packed from a source's bytes, for samples
	pinned            atomic.Int64  // the number of stored objects that are held decoded for ever
	undecodable       atomic.Uint64 // reads of stored objects that could not be decoded
	detector          *detector     // of objects that are decoded for readers

	mu     sync.Mutex
	causes map[string]bool    // that were told
	errors chan *StorageError // to be reported, with room for one of each cause, and for the first lost object

	swept int // the place in the store up to which the present sweep has come; of the goroutine that tends
}

// decoding is how some objects are decoded.
type decoding struct{ set atomic.Pointer[decodingOf] }

type decodingOf struct {
	objects any // equal decoders have equal ones
	pack.Decoder
}

// use sets the decoder. It returns false if another one is set.
func (d *decoding) use(objects any, with pack.Decoder) bool {
	return d.set.CompareAndSwap(nil, &decodingOf{objects, with}) || d.set.Load().objects == objects
}

const (
	// Of the objects that come as bytes, the first ComparedFirst and then one in comparedOneIn are decoded
	// twice and compared: a type may have a decoder of its own.
	ComparedFirst = 64
	comparedOneIn = 1024
	// MostCauses bounds the number of reported causes.
	MostCauses = 100
)

var _ indexer.Codec = (*packing)(nil)

// newPacking returns the packing of an informer of a type, nil without a budget. Objects of an interface
// type cannot be packed.
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
		Decode: p.decode, DecodeBeside: p.decodeBeside, Meta: p.meta, Unreadable: p.lost,
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

// packedObject is what the store holds of an object. It shows the object's metadata and does not implement
// [metav1.Object], so that no code takes it for the object.
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

// Encode implements [indexer.Codec]. What has not been packed where it arrived is pinned.
func (p *packing) Encode(obj any) any {
	if o, ok := obj.(*packedObject); ok {
		return o
	}
	return (*packedObject)(p.kind.Pin(obj))
}

// Decode implements [indexer.Codec].
func (p *packing) Decode(stored any) any { return p.read(stored, pack.Main) }

// ForList implements [indexer.Codec]. A list that would take a large part of the budget leaves it alone.
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

// forHandler decodes an object for a handler. Others may want it in a moment.
func (p *packing) forHandler(stored any) any { return p.read(stored, pack.Passing) }

// besideForHandler is forHandler for an object whose other version has just been decoded.
func (p *packing) besideForHandler(stored, other, decoded any) any {
	if decoded == nil {
		return p.forHandler(stored)
	}
	o := unwrap(stored)
	if v, ok := p.kind.Kept(o); ok {
		return v
	}
	return p.decoded(o.ValueBeside(pack.Passing, unwrap(other), decoded))
}

// read returns an object decoded, or nil if that fails.
func (p *packing) read(stored any, in pack.Ring) any {
	o := unwrap(stored)
	if v, ok := p.kind.Kept(o); ok {
		return v
	}
	return p.decoded(o.Value(in))
}

// decoded returns an object that was decoded for a reader, or nil if that failed.
func (p *packing) decoded(obj any, err error) any {
	if err != nil {
		return nil
	}
	p.detector.add(obj)
	return obj
}

// lost is called when an object cannot be read. The first one is reported, without waiting.
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

// decodeBeside takes nothing from an object that another decoder has decoded: it may have other fields.
func (p *packing) decodeBeside(data []byte, f pack.Form, other pack.Peer) (obj any, err error) {
	defer caught(&err)
	with := p.decoderOf(f)
	if p.decoderOf(other.Form) != with {
		return with.Decode(data, f)
	}
	return with.DecodeBeside(data, f, other)
}

func (p *packing) meta(data []byte, f pack.Form) (m any, err error) {
	defer caught(&err)
	return p.decoderOf(f).Meta(data, f)
}

// caught makes a panic of a type's own functions an error, except in a program that checks itself.
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

// TakeUnread implements [pack.Taker]. As long as the budget has room, objects are decoded. A program that
// checks itself has decoded them, and samples none.
func (p *packing) TakeUnread(namespace, name string, data []byte, f pack.Form) any {
	if sampled(p.packed.Load()+1) && !verify.On || p.kind.HasRoom(len(data)) {
		return nil
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

// fromObject returns the stored form of an object that has no bytes, or that a program has changed since.
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

// compare returns an error if bytes decode to another object.
func (p *packing) compare(obj any, data []byte, f pack.Form) error {
	again, err := p.decode(data, f)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(obj, again) {
		path, _ := difference(reflect.ValueOf(obj), reflect.ValueOf(again), func(a, b resource.Quantity) bool { return reflect.DeepEqual(a, b) })
		return fmt.Errorf("encoded and decoded again, it differs in %s", path)
	}
	return nil
}

// pin returns the stored form of an object that stays decoded, and reports it.
func (p *packing) pin(obj any, why error) any {
	p.tell(obj, why)
	return p.Encode(obj)
}

// tell lets the run report what is wrong with an object, each cause once. Any goroutine calls it, also one
// of the program.
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

// tend reports errors, and sweeps the store, until ctx ends.
func (p *packing) tend(ctx context.Context, store *indexer.Writer) {
	sweep := time.NewTicker(time.Second)
	defer sweep.Stop()
	for {
		select {
		case e := <-p.errors:
			p.observe(e)
		case <-sweep.C:
			p.kind.Sweep(func(visit func(*pack.Object) bool) (last bool) {
				p.swept = store.Scan(p.swept, func(stored any) bool { return visit(unwrap(stored)) })
				return p.swept == 0
			})
		case <-ctx.Done():
			return
		}
	}
}

// marshal encodes an object: as protobuf if its type has that, and in JSON otherwise. An object that says its
// kind needs JSON, since protobuf leaves the kind out.
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

// StorageError reports an object of an informer with [Storage].Decoded that is held decoded, outside of the
// budget, since it cannot be packed: Err says why, and names the first field that changes when the object is
// encoded and decoded again. Each reason is reported once. [StorageStatus].Pinned is the number of these objects.
//
// It also reports the first packed object that could not be decoded, because of a defect or of broken memory.
// Reads leave such an object out, and no handler is called with it. [StorageStatus].Undecodable counts these reads. The
// run reports the errors, so that no reader waits for that.
type StorageError struct {
	Key indexer.Key // empty if it cannot be read
	Err error
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("storing object %.*q packed: %.*v", object.MaxText, e.Key, object.MaxText, e.Err)
}

// Unwrap returns the reason.
func (e *StorageError) Unwrap() error { return e.Err }
