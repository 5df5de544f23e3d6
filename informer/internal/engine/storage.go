package engine

import "github.com/tidemark-k8s/tidemark/internal/pack"

// Storage says how an informer holds its objects. The zero value: decoded, sharing equal values, or as the
// factory's Storage says.
type Storage struct {
	// Decoded, if set, makes the informer hold its objects packed: as the differences of their encoded bytes
	// to those of similar objects. Of some the decoded form is kept as well, as much as fits into this
	// budget. Several informers may have the same one.
	//
	// A program gets objects as before, but for this: two reads may return two objects that are equal, so
	// that pointers must not be compared; a read of an object that is not kept decoded takes some
	// microseconds, and reading all of a large store often is slow; and nothing is shared between objects but
	// the old and the new one of an update. The informer holds an object decoded if encoding and decoding
	// change it, or if a program has put it into the store, see [StorageError].
	Decoded *Budget
	// Unpacked, if set, makes the informer hold its objects decoded, whatever Decoded and the factory's Storage say.
	Unpacked bool
}

// packs reports whether objects are packed.
func (s Storage) packs() bool { return s.Decoded != nil && !s.Unpacked }

// Budget bounds the memory of the objects that informers keep decoded beside the packed ones. The zero
// value is the budget of zero bytes. Any goroutine may use it.
type Budget pack.Budget

// NewBudget returns a budget of so many bytes. With 0 nothing is kept decoded, and with math.MaxInt64
// everything. A good value is the size of what a program reads again and again, or a tenth of the heap
// that it took before. An informer with a negative one reports [ErrNegative].
func NewBudget(bytes int64) *Budget { return (*Budget)(pack.NewBudget(bytes)) }

// Limit returns the bytes of the budget.
func (b *Budget) Limit() int64 { return (*pack.Budget)(b).Limit() }

// Used returns the memory of the objects that are kept decoded, estimated to within some 15 percent. Of what a
// store has replaced or deleted some counts until it is collected as garbage and room is looked for.
func (b *Budget) Used() int64 { return (*pack.Budget)(b).Used() }

// StorageStatus describes the objects of an informer with [Storage].Decoded. It is zero without.
type StorageStatus struct {
	Budget *Budget // the informer's own, or one that it shares with others
	// Packed is the memory of the packed objects, and of what they have in common. An object that has left the store
	// counts until it is garbage if others may be differences to it. One that the store never had, such as that of a
	// list that failed, does not count. Decoded is the memory of the objects that are
	// kept decoded within the budget, an estimate.
	Packed, Decoded int64
	// Pinned is the number of objects that are held decoded for ever, see [StorageError].
	Pinned int
	// Decodes counts the packed objects that were decoded for readers and handlers. If it grows quickly,
	// the budget is too small.
	Decodes uint64
	// Undecodable counts the reads of packed objects that could not be decoded, see [StorageError].
	Undecodable uint64
}

// storageStatus returns the state of a packed store.
func (c *Core) storageStatus() StorageStatus {
	p := c.packing
	if p == nil {
		return StorageStatus{}
	}
	return StorageStatus{
		Budget: c.options.Storage.Decoded, Packed: p.kind.Stored() + p.kind.Size(), Decoded: p.kind.Hot(),
		Pinned: int(p.pinned.Load()), Decodes: p.kind.Decodes(), Undecodable: p.undecodable.Load(),
	}
}

// decodes returns the number of packed objects that were decoded.
func (c *Core) decodes() uint64 {
	if c.packing == nil {
		return 0
	}
	return c.packing.kind.Decodes()
}
