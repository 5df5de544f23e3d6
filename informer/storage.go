package informer

import "github.com/tidemark-k8s/tidemark/informer/internal/engine"

// Storage says how an informer holds its objects. The zero value: decoded, sharing equal values, or as the factory's
// Storage says.
type Storage = engine.Storage

// Budget bounds the memory of the objects that informers keep decoded in addition to the packed ones.
type Budget = engine.Budget

// NewBudget returns a budget of so many bytes. With 0 nothing is kept decoded, and with math.MaxInt64
// everything. A good value is the size of what a program reads again and again, or a tenth of the heap
// that it took before. An informer with a negative one reports [ErrNegative].
func NewBudget(bytes int64) *Budget { return engine.NewBudget(bytes) }
