package engine

import "github.com/tidemark-k8s/tidemark/internal/pack"

// Storage selects how an informer holds its objects. The zero value takes the factory's Storage, or else
// holds them decoded, with equal values shared. Packed storage is experimental: its options, and what is
// packed, may change.
type Storage struct {
	// Decoded, if set, makes the informer hold its objects packed: as the differences between their encoded
	// bytes and those of similar objects. It also keeps some objects decoded, within this budget. Several
	// informers may share a budget.
	//
	// For a program, three things change. Two reads may return two equal objects, so pointers must not be
	// compared. Reading an object that is not kept decoded takes some microseconds, so reading all of a large
	// store often is slow. And objects share no values, except for the old and new object of an update. The
	// informer pins an object (holds it decoded) if encoding and decoding change it, or if a program has put
	// it into the store, see [StorageError].
	Decoded *Budget
	// Unpacked, if set, makes the informer hold its objects decoded, whatever Decoded and the factory's
	// Storage say.
	Unpacked bool
}

// packs reports whether objects are packed.
func (s Storage) packs() bool { return s.Decoded != nil && !s.Unpacked }

// Budget limits the memory of the objects that informers keep decoded in addition to the packed ones. The
// zero value is a budget of zero bytes. It is safe for concurrent use.
type Budget pack.Budget

// NewBudget returns a budget of some bytes. With 0 no object is kept decoded, and with math.MaxInt64 all
// objects are. A good value is the size of the objects that a program reads again and again, or a tenth of
// the heap without packing. An informer with a negative budget reports [ErrOutOfRange].
func NewBudget(bytes int64) *Budget { return (*Budget)(pack.NewBudget(bytes)) }

// Limit returns the budget in bytes.
func (b *Budget) Limit() int64 { return (*pack.Budget)(b).Limit() }

// Used returns the memory of the objects that are kept decoded, estimated to within 15 percent. Replaced and
// deleted objects may count until they are garbage collected and the budget needs their room.
func (b *Budget) Used() int64 { return (*pack.Budget)(b).Used() }

// StorageStatus describes the objects of an informer with [Storage].Decoded. Without it, StorageStatus is
// zero.
type StorageStatus struct {
	Budget *Budget // of this informer, or shared with others
	// Packed is the memory of the packed objects, and of what they have in common. An object that has left
	// the store counts until it is garbage, if other objects may be stored as differences from it. An object
	// that the store never had, such as one of a failed list, does not count. Decoded is an estimate of the
	// memory of the objects that the budget keeps decoded.
	Packed, Decoded int64
	// Pinned is the number of objects that always stay decoded, see [StorageError].
	Pinned int
	// Decodes counts how often packed objects were decoded for readers and handlers. If it grows quickly, the
	// budget is too small.
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

// decodes returns how often packed objects were decoded.
func (c *Core) decodes() uint64 {
	if c.packing == nil {
		return 0
	}
	return c.packing.kind.Decodes()
}
