package informer

import "github.com/tidemark-k8s/tidemark/informer/internal/engine"

// Storage selects how an informer holds its objects. Decoded, if set, holds them packed, and is the [Budget]
// for those that are also kept decoded. Unpacked holds them decoded, whatever the factory's Storage says. The
// zero value takes the factory's Storage, or else holds them decoded. Packed storage is experimental: its
// options, and what is packed, may change. [engine.Storage] documents its fields.
type Storage = engine.Storage

// Budget limits the memory of the objects that informers keep decoded in addition to the packed ones. Its
// methods Limit and Used return bytes. [NewBudget] makes one, and several informers may share it.
type Budget = engine.Budget

// NewBudget returns a budget of some bytes. With 0 no object is kept decoded, and with math.MaxInt64 all
// objects are. A good value is the size of the objects that a program reads again and again, or a tenth of
// the heap without packing. An informer with a negative budget reports [ErrOutOfRange].
func NewBudget(bytes int64) *Budget { return engine.NewBudget(bytes) }
