package pack

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// Options say how a kind decodes its objects, and how much memory hot objects may use. All fields but
// Unreadable are required. Any goroutine may call the functions, and they must not keep parts of data.
type Options struct {
	// Type is the type of the decoded objects, which is a pointer type.
	Type reflect.Type
	// Decode decodes an object.
	Decode func(data []byte, f Form) (any, error)
	// Meta decodes an object's metadata only.
	Meta func(data []byte, f Form) (any, error)
	// Weigh returns the memory of a decoded object.
	Weigh func(decoded any) int64
	// Unreadable, if set, is called when a stored object cannot be unpacked, or when Decode or Meta fails.
	Unreadable func(o *Object, err error)
	// Budget bounds the memory of hot objects. Several kinds may share a budget.
	Budget *Budget
}

// A Decoder decodes the objects of a kind, or only their metadata. Any goroutine may call it, and it must not
// keep parts of data.
type Decoder interface {
	// Type returns the type of the objects that Decode returns.
	Type() reflect.Type
	Decode(data []byte, f Form) (any, error)
	Meta(data []byte, f Form) (any, error)
}

// A Taker packs the objects that arrive from a source together with their bytes. The goroutine that reads the
// bytes calls it, before the program gets the object. It must not keep parts of data.
type Taker interface {
	// Take returns the stored form of an object that has been decoded from data.
	Take(decoded any, data []byte, f Form) (stored any)
	// TakeUndecoded returns the stored form of an object that has not been decoded yet. It returns nil if
	// the caller must decode the object and call Take.
	TakeUndecoded(namespace, name string, data []byte, f Form) (stored any)
}

// A Kind packs the objects of one kind. Any goroutine may use it.
type Kind struct {
	options   Options
	typ       unsafe.Pointer // first word of an interface value with a hot object
	weights   weights
	hot       *atomic.Int64 // estimated bytes of hot objects; allocated separately, because a budget may outlive the kind
	decodes   atomic.Uint64 // number of times Value decoded an object
	stored    atomic.Int64  // bytes of stored objects
	removed   *atomic.Int64 // bytes of removed objects that may still be bases; allocated separately, for cleanups
	earlier   *atomic.Int64 // bytes of earlier dictionaries; likewise
	pinned    generation    // generation of all pinned objects
	readCache baseCache
	scratches sync.Pool // of *scratch

	// packing guards the fields below.
	packing   sync.Mutex
	packCache baseCache // with indexes
	spare     baseData
	search    search
	families  families
	current   *generation
	backoff   backoff // for objects without a base
	candidate candidate
}

// NewKind returns a kind without objects.
func NewKind(o Options) *Kind {
	k := &Kind{options: o, hot: new(atomic.Int64), removed: new(atomic.Int64), earlier: new(atomic.Int64)}
	k.families = families{seed: maphash.MakeSeed(), byHash: map[uint64]family{}}
	decoded := reflect.Zero(o.Type).Interface()
	k.typ = (*words)(unsafe.Pointer(&decoded)).typ
	k.scratches.New = func() any { return new(scratch) }
	k.packCache.indexed = true
	k.pinned.init(k, nil)
	k.current = newGeneration(k, nil)
	return k
}

// A difference is poor if it is larger than the object's bytes divided by a ratio. The ratio depends on the
// question.
const (
	payRatio        = 2  // was packing worth its cost?
	namesakeRatio   = 8  // does the base of another namespace's family fit?
	dictionaryRatio = 10 // does the dictionary have most of the object?
	familyRatio     = 12 // does the family's base fit?
)

// isPoor reports whether d is a poor difference. d is nil if there is no difference smaller than data.
func isPoor(d, data []byte, ratio int) bool { return d == nil || len(d)*ratio > len(data) }

// Pack packs the bytes of an object, and keeps no part of them. Call it before the program gets the object. If
// Pack fails, pin the object: the error is [ErrTooLarge], or [ErrDamaged] if the base cannot be unpacked.
func (k *Kind) Pack(namespace, name string, data []byte, f Form) (*Object, error) {
	if len(data) > maxSize {
		return nil, ErrTooLarge
	}
	k.packing.Lock()
	defer k.packing.Unlock()

	o := new(Object)
	d, err := k.difference(o, namespace, name, data)
	if err != nil {
		return nil, err
	}
	content, header := d, uint32(f)
	if d == nil {
		content, header = data, header|rawBit
	}
	o.blob = newBlob(content, header)
	if verify.On {
		unpacked, err := o.unpack(nil, &baseData{})
		verify.That(err == nil && bytes.Equal(unpacked, data), "%d bytes were packed, and %d different bytes unpacked: %v", len(data), len(unpacked), err)
	}
	return o, nil
}

// difference sets the base of an object, and returns the difference to it. It returns nil if the difference is
// not smaller than data.
func (k *Kind) difference(o *Object, namespace, name string, data []byte) (d []byte, err error) {
	own, namesakes := k.families.hash(namespace, name), k.families.hash(anyNamespace, name)
	base, becomesBase := k.families.base(own), len(data) <= maxBase
	var poor []byte // the difference to a base that does not fit
	switch {
	case base == nil:
		if base = k.families.base(namesakes); base == nil {
			break
		}
		if d, err = k.toBase(base, data); err != nil || !isPoor(d, data, namesakeRatio) {
			k.families.set(own, base, "")
			o.base = base
			return d, err
		}
	case !k.families.attempt(own):
		o.base = &k.current.root
		return nil, nil
	case len(data) > maxBase || !k.families.needsBase(own):
		d, err = k.toBase(base, data)
		fits, sole, keepBase := k.families.record(own, name, d, data)
		if fits || err != nil {
			o.base = base
			return d, err
		}
		if becomesBase = becomesBase && !keepBase; !sole {
			poor = slices.Clone(d)
		}
	}
	o.base, d = &k.current.root, nil
	tried := k.backoff.attempt()
	if tried {
		d = k.search.difference(data, k.current.dictionary.Load())
		k.backoff.record(!isPoor(d, data, payRatio))
	}
	if poor != nil && (d == nil || len(d) >= len(poor)) {
		o.base = base
		return poor, nil
	}
	if becomesBase {
		k.families.set(own, o, name)
		k.families.set(namesakes, o, name)
	}
	if tried && isPoor(d, data, dictionaryRatio) && !k.current.learn(data) {
		d = slices.Clone(d) // noteMiss overwrites it
		k.noteMiss(data, cmp.Or(len(d), len(data)))
	}
	return d, nil
}

// toBase returns the difference to a base, or nil if it is not smaller than data.
func (k *Kind) toBase(base *Object, data []byte) ([]byte, error) {
	b, err := k.packCache.get(base, &k.spare)
	if err != nil {
		return nil, err
	}
	return k.search.difference(data, b), nil
}

// Pin returns an object that stays decoded. Pin an object that has no bytes, or whose bytes decode to a
// different object.
func (k *Kind) Pin(obj any) *Object {
	return &Object{base: &k.pinned.root, hot: unsafe.Pointer(&obj)}
}

// Hot returns the estimated memory of the hot objects.
func (k *Kind) Hot() int64 { return k.hot.Load() }

// Decodes returns the number of times that [Object.Value] decoded an object.
func (k *Kind) Decodes() uint64 { return k.decodes.Load() }

// Count counts an object that is added to the store (n = 1) or removed from it (n = -1). The store's writer
// calls it. A removed object may still be the base of others, so it counts until it is garbage-collected. If it
// is added again, it counts twice until then. Count does not wait for packing.
func (k *Kind) Count(o *Object, n int) {
	k.stored.Add(int64(n) * o.Size())
	if n < 0 && !o.IsPinned() && o.base.base == nil {
		countUntilGarbage(o, k.removed, o.Size())
	}
}

// Stored returns the bytes of the stored objects, the sum of [Object.Size].
func (k *Kind) Stored() int64 { return k.stored.Load() }

// Size returns the bytes that the objects of a kind share: the current and the earlier dictionaries, removed
// objects that are still bases, cached bases, and memory for packing. The size of the table of families is an
// estimate.
func (k *Kind) Size() int64 {
	k.packing.Lock()
	defer k.packing.Unlock()

	size := int(unsafe.Sizeof(*k)) + familySize*len(k.families.byHash) + cap(k.search.out)
	return int64(size) + k.removed.Load() + k.earlier.Load() + k.current.dictionary.Load().size() + k.candidate.size() + k.readCache.bytes.Load() + k.packCache.bytes.Load() + k.spare.size()
}
