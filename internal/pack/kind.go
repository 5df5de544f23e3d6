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

// Options say what a kind's bytes mean, and how much of it is hot. All but Unreadable are required. Any
// goroutine calls the functions, which keep no part of the bytes.
type Options struct {
	// Type is the type of decoded objects, a pointer's.
	Type reflect.Type
	// Decode decodes an object.
	Decode func(data []byte, f Form) (any, error)
	// Meta reads an object's metadata, without decoding the rest.
	Meta func(data []byte, f Form) (any, error)
	// Weigh returns the memory of a decoded object.
	Weigh func(decoded any) int64
	// Unreadable, if set, is told when a stored object cannot be undone, or Decode or Meta fails on it.
	Unreadable func(o *Object, err error)
	// Budget bounds the memory of hot objects. Other kinds may have the same.
	Budget *Budget
}

// Decoder decodes the objects of a kind, or their metadata alone. Any goroutine calls it, and it keeps no
// part of the bytes.
type Decoder interface {
	// Type returns the type of what Decode returns.
	Type() reflect.Type
	Decode(data []byte, f Form) (any, error)
	Meta(data []byte, f Form) (any, error)
}

// Taker takes the objects of a source that has the bytes of each. The goroutine that reads them calls it,
// before anybody gets the object. It keeps no part of the bytes.
type Taker interface {
	// Take returns the stored form of an object that was decoded from bytes.
	Take(decoded any, data []byte, f Form) (stored any)
	// TakeUnread returns the stored form of an object that can be decoded from bytes, and was not. It
	// returns nil if the object is to be decoded first.
	TakeUnread(namespace, name string, data []byte, f Form) (stored any)
}

// A Kind packs the objects of one kind. Any goroutine may use it.
type Kind struct {
	options   Options
	typ       unsafe.Pointer // of hot objects, as in an interface value
	weights   weights
	hot       *atomic.Int64 // estimated bytes of the kind's hot objects; apart, for a budget that outlives the kind
	decodes   atomic.Uint64 // decodings by Value
	stored    atomic.Int64  // bytes of the stored objects
	left      *atomic.Int64 // bytes of objects that have left the store and may be bases; apart, for cleanups
	pinned    generation    // of pinned objects
	toRead    openBases
	scratches sync.Pool // of *scratch

	packing  sync.Mutex // of what is below
	toSearch openBases
	spare    openBase
	search   search
	families families
	before   weak.Pointer[generation]
	pace     pace // of the objects without a base
	lacked   lacked
	// The number of the sweep under way is sweeping, and that of the last complete one swept. The next generation
	// waits for the sweep due.
	sweeping, swept, due int

	counting sync.Mutex // of the roots of stored objects, and of what is below; after packing. now and none change under both
	now      *generation
	none     *generation // of objects that were kept as they are without being tried, since a sweep was asked for
	toSweep  int         // the number of sweeps that were asked for
}

// NewKind returns a kind without objects. An informer has one.
func NewKind(o Options) *Kind {
	k := &Kind{options: o, hot: new(atomic.Int64), left: new(atomic.Int64), families: families{seed: maphash.MakeSeed(), of: map[uint64]family{}}}
	decoded := reflect.Zero(o.Type).Interface()
	k.typ = (*words)(unsafe.Pointer(&decoded)).typ
	k.scratches.New = func() any { return new(scratch) }
	k.toSearch.indexed = true
	k.pinned.init(k, nil)
	k.now, k.none = newGeneration(k, nil), newGeneration(k, nil)
	return k
}

// A difference is poor if it has more than one in so many of the object's bytes. Then …
const (
	anyPart        = 2  // packing has not paid
	namesakePart   = 8  // the base of another namespace's family is not for this one
	dictionaryPart = 10 // the dictionary lacks the object
	familyPart     = 12 // the family's base does not fit
)

// poor reports whether a difference, or nil for the bytes themselves, is poor.
func poor(d, data []byte, part int) bool { return d == nil || len(d)*part > len(data) }

// Pack packs the bytes of an object, and keeps no part of them. Whoever gets an object's bytes calls it,
// before anybody gets the object. An object that cannot be packed is to be pinned: the errors are
// [ErrTooLarge], and [ErrDamaged] if its family's base cannot be read.
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
		undone, err := o.undo(nil, &openBase{})
		verify.That(err == nil && bytes.Equal(undone, data), "%d bytes are packed as %d others: %v", len(data), len(undone), err)
	}
	return o, nil
}

// difference gives an object its base, and returns the difference to it, or nil if that is not smaller
// than the bytes.
func (k *Kind) difference(o *Object, namespace, name string, data []byte) (d []byte, err error) {
	own, namesakes := k.families.hash(namespace, name), k.families.hash(anyNamespace, name)
	base, becomesBase := k.families.base(own), len(data) <= maxBase
	var poorly []byte // the difference to a base that does not fit
	switch {
	case base == nil:
		if base = k.families.base(namesakes); base == nil {
			break
		}
		if d, err = k.toBase(base, data); err != nil || !poor(d, data, namesakePart) {
			k.families.set(own, base, "")
			o.base.Store(base)
			return d, err
		}
	case !k.families.tries(own):
		o.base.Store(&k.none.root)
		return nil, nil
	case len(data) > maxBase || !k.families.wantBase(own):
		d, err = k.toBase(base, data)
		fits, sole, stays := k.families.note(own, name, d, data)
		if fits || err != nil {
			o.base.Store(base)
			return d, err
		}
		if becomesBase = becomesBase && !stays; !sole {
			poorly = slices.Clone(d)
		}
	}
	d = k.toDictionary(o, data)
	if poorly != nil && (d == nil || len(d) >= len(poorly)) {
		o.base.Store(base)
		return poorly, nil
	}
	if becomesBase {
		k.families.set(own, o, name)
		k.families.set(namesakes, o, name)
	}
	if o.base.Load() == &k.now.root && poor(d, data, dictionaryPart) && !k.now.learn(data) {
		d = slices.Clone(d) // lacks makes another difference
		k.lacks(data, cmp.Or(len(d), len(data)))
	}
	return d, nil
}

// toBase returns the difference to a base, or nil.
func (k *Kind) toBase(base *Object, data []byte) ([]byte, error) {
	b, err := k.toSearch.open(base, &k.spare)
	if err != nil {
		return nil, err
	}
	return k.search.difference(data, b), nil
}

// toDictionary returns the difference to the dictionary, or nil, and makes the generation's root the base. While
// objects without a base have nothing in common with the dictionary, most are not tried, until a sweep.
func (k *Kind) toDictionary(o *Object, data []byte) []byte {
	if !k.pace.tries() {
		o.base.Store(&k.none.root)
		return nil
	}
	o.base.Store(&k.now.root)
	d := k.search.difference(data, k.now.dictionary.Load())
	if k.pace.note(!poor(d, data, anyPart)) {
		k.askForSweep(k.now)
	}
	return d
}

// Pin returns an object that stays decoded. Whoever would store it calls it, if it has no bytes, or if
// they decode to another one.
func (k *Kind) Pin(obj any) *Object {
	o := &Object{hot: unsafe.Pointer(&obj)}
	o.base.Store(&k.pinned.root)
	return o
}

// Hot returns the memory of the hot objects, as it was estimated.
func (k *Kind) Hot() int64 { return k.hot.Load() }

// Decodes returns how often [Object.Value] has decoded an object.
func (k *Kind) Decodes() uint64 { return k.decodes.Load() }

// Count counts an object that its store gets (n = 1) or loses (n = -1). The store's writer calls it. An object that
// may be the base of others counts until it is garbage. A sweep changes its size, and its root says how it counts.
// Count waits for no packing.
func (k *Kind) Count(o *Object, n int) {
	if o.IsPinned() || o.base.Load().base.Load() != nil {
		k.stored.Add(int64(n) * o.Size())
		return
	}
	k.counting.Lock()
	defer k.counting.Unlock()

	g := o.base.Load().generation()
	switch {
	case o.base.Load() == &g.left: // it counts already
	case n > 0:
		if g != k.now && g != k.none { // a sweep may have come by before
			k.toSweep++
		}
		o.base.Store(&g.stored)
		k.stored.Add(o.Size())
	default:
		o.base.Store(&g.left)
		k.stored.Add(-o.Size())
		k.hold(o, o.Size())
	}
}

// hold counts bytes of an object that has left the store until it is garbage.
func (k *Kind) hold(o *Object, bytes int64) {
	left := k.left
	left.Add(bytes)
	runtime.AddCleanup(o, func(bytes int64) { left.Add(-bytes) }, bytes)
}

// Stored returns the bytes of the stored objects: the sum of [Object.Size].
func (k *Kind) Stored() int64 { return k.stored.Load() }

// Size returns the bytes of what a kind's objects have in common: the dictionary and an earlier one, bases that have
// left the store, open bases, memory for packing, and about those of the table of families.
func (k *Kind) Size() int64 {
	k.packing.Lock()
	defer k.packing.Unlock()

	size := int(unsafe.Sizeof(*k)) + familySize*len(k.families.of) + cap(k.search.out)
	if g := k.before.Value(); g != nil {
		size += len(g.dictionary.Load().data)
	}
	return int64(size) + k.left.Load() + k.now.dictionary.Load().size() + k.lacked.size() + k.toRead.bytes.Load() + k.toSearch.bytes.Load() + k.spare.size()
}
