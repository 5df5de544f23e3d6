package pack

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

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
	pinned    generation    // generation of all pinned objects
	readCache baseCache
	scratches sync.Pool // of *scratch

	// packing guards the fields below, up to counting.
	packing   sync.Mutex
	packCache baseCache // with indexes
	spare     baseData
	search    search
	families  families
	previous  weak.Pointer[generation]
	backoff   backoff // for objects without a base
	candidate candidate
	// Sweeps are numbered. sweeping is the current or last one, and swept is the last complete one. The next
	// generation begins after sweep due is complete.
	sweeping, swept, due int

	// counting guards the roots of stored objects, and the fields below. Lock it after packing. Writing
	// current and untried takes both locks.
	counting  sync.Mutex
	current   *generation
	untried   *generation // of objects stored raw, without a search, since a sweep was last requested
	requested int         // number of the last sweep requested
}

// NewKind returns a kind without objects.
func NewKind(o Options) *Kind {
	k := &Kind{options: o, hot: new(atomic.Int64), removed: new(atomic.Int64), families: families{seed: maphash.MakeSeed(), byHash: map[uint64]family{}}}
	decoded := reflect.Zero(o.Type).Interface()
	k.typ = (*words)(unsafe.Pointer(&decoded)).typ
	k.scratches.New = func() any { return new(scratch) }
	k.packCache.indexed = true
	k.pinned.init(k, nil)
	k.current, k.untried = newGeneration(k, nil), newGeneration(k, nil)
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
	o.blob.Store(newPacked(d, data, f))
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
			o.base.Store(base)
			return d, err
		}
	case !k.families.attempt(own):
		o.base.Store(&k.untried.fresh)
		return nil, nil
	case len(data) > maxBase || !k.families.needsBase(own):
		d, err = k.toBase(base, data)
		fits, sole, keepBase := k.families.record(own, name, d, data)
		if fits || err != nil {
			o.base.Store(base)
			return d, err
		}
		if becomesBase = becomesBase && !keepBase; !sole {
			poor = slices.Clone(d)
		}
	}
	d = k.toDictionary(o, data)
	if poor != nil && (d == nil || len(d) >= len(poor)) {
		o.base.Store(base)
		return poor, nil
	}
	if becomesBase {
		k.families.set(own, o, name)
		k.families.set(namesakes, o, name)
	}
	if o.base.Load() == &k.current.fresh && isPoor(d, data, dictionaryRatio) && !k.current.learn(data) {
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

// toDictionary makes a root of the current generation the base, and returns the difference to the dictionary, or
// nil if it is not smaller than data. While packing objects without a base does not pay, toDictionary leaves
// most of them untried until a sweep.
func (k *Kind) toDictionary(o *Object, data []byte) []byte {
	if !k.backoff.attempt() {
		o.base.Store(&k.untried.fresh)
		return nil
	}
	o.base.Store(&k.current.fresh)
	d := k.search.difference(data, k.current.dictionary.Load())
	if k.backoff.record(!isPoor(d, data, payRatio)) {
		k.requestSweep(k.current)
	}
	return d
}

// Pin returns an object that stays decoded. Pin an object that has no bytes, or whose bytes decode to a
// different object.
func (k *Kind) Pin(obj any) *Object {
	o := &Object{hot: unsafe.Pointer(&obj)}
	o.base.Store(&k.pinned.fresh)
	return o
}

// Hot returns the estimated memory of the hot objects.
func (k *Kind) Hot() int64 { return k.hot.Load() }

// Decodes returns the number of times that [Object.Value] decoded an object.
func (k *Kind) Decodes() uint64 { return k.decodes.Load() }

// Count counts an object that is added to the store (n = 1) or removed from it (n = -1). The store's writer
// calls it. A removed object may still be the base of others, so it counts until it is garbage-collected. The
// root of an object says how it counts, because a sweep may change its size. Count does not wait for packing.
func (k *Kind) Count(o *Object, n int) {
	if o.IsPinned() || o.base.Load().base.Load() != nil {
		k.stored.Add(int64(n) * o.Size())
		return
	}
	k.counting.Lock()
	defer k.counting.Unlock()

	g := o.base.Load().generation()
	switch {
	case o.base.Load() == &g.removed: // already counted
	case n > 0:
		if g != k.current && g != k.untried { // the sweep may have missed it
			k.requested++
		}
		o.base.Store(&g.stored)
		k.stored.Add(o.Size())
	default:
		o.base.Store(&g.removed)
		k.stored.Add(-o.Size())
		k.countRemoved(o, o.Size())
	}
}

// countRemoved counts bytes of a removed object until the object is garbage-collected.
func (k *Kind) countRemoved(o *Object, bytes int64) {
	removed := k.removed
	removed.Add(bytes)
	runtime.AddCleanup(o, func(bytes int64) { removed.Add(-bytes) }, bytes)
}

// Stored returns the bytes of the stored objects, the sum of [Object.Size].
func (k *Kind) Stored() int64 { return k.stored.Load() }

// Size returns the bytes that the objects of a kind share: the current and the previous dictionary, removed
// objects that are still bases, cached bases, and memory for packing. The size of the table of families is an
// estimate.
func (k *Kind) Size() int64 {
	k.packing.Lock()
	defer k.packing.Unlock()

	size := int(unsafe.Sizeof(*k)) + familySize*len(k.families.byHash) + cap(k.search.out)
	if g := k.previous.Value(); g != nil {
		size += len(g.dictionary.Load().data)
	}
	return int64(size) + k.removed.Load() + k.current.dictionary.Load().size() + k.candidate.size() + k.readCache.bytes.Load() + k.packCache.bytes.Load() + k.spare.size()
}
