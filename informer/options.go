package informer

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// Options configure an informer. The zero value has the index "namespace", no transform and no resyncs, and
// logs events (see [LogEvents]).
type Options[T any] struct {
	// Name is the informer's name in messages. It defaults to the name of T.
	Name string
	// Resource names the kind in NotFound errors of the lister. It defaults to the source's resource.
	Resource schema.GroupResource
	// Indexes are kept in addition to the namespace index. An index named [indexer.NamespaceIndex] replaces
	// it.
	Indexes []indexer.Index[T]
	// LabelIndexes are label keys that are indexed from the start. Other label keys get an index after
	// selectors have used them several times, see [indexer.Indexer.Select].
	LabelIndexes []string
	// Transform, if set, makes the stored object from each received one, like client-go's TransformFunc. It
	// can remove fields that the program does not read, for example. The informer calls it exactly once for
	// each received object, without a lock, and it may change the object in place. The reflector's goroutine
	// calls it for the objects of the source, and another goroutine for the object in the answer to an own
	// write ([reflector.OwnWrites]). These calls do not overlap. If Transform returns an error or nil,
	// panics, or changes the namespace or name, the object is quarantined, see [QuarantineError].
	Transform func(T) (T, error)
	// TransformDrops, if set, is called with each transform that client-go's SetTransform sets. If it returns
	// fields, the transform only removes those fields. The informer then adds them to Drop, and does not call
	// the transform. If it returns nil, the transform runs.
	TransformDrops func(transform func(any) (any, error)) []string
	// Resync is the period after which each handler gets all objects again, unless the handler has its own
	// period. Zero means never.
	Resync time.Duration
	// MinWatchTimeout is the shortest duration that a watch asks for. Values below five minutes count as five
	// minutes.
	MinWatchTimeout time.Duration
	// StreamPatience is how long a stream of the initial state may be silent; zero means ten seconds.
	// ListPatience is how long a list, or a page of it, may take; zero means ten minutes. Slow servers may
	// need more. See [reflector.Options].
	StreamPatience, ListPatience time.Duration
	// PageSize, if not zero, makes every list use pages of that many objects.
	PageSize int64
	// Decoding configures how objects are decoded: which values they share, which fields are dropped, and
	// what happens to objects that cannot be decoded.
	reflector.Decoding
	// Storage selects how the store holds the objects: decoded, or packed into a fraction of the memory.
	// Packed storage is experimental: its options, and what is packed, may change.
	Storage Storage
	// Shard, if set, limits the informer to a share of the objects, so that each of N replicas reads 1/N of
	// them. Shards are experimental: the server's selector is alpha, and this option may change with it. The
	// informer asks for its share once, when it starts. Sharding is static: tidemark does not coordinate
	// replicas. Make sure that their shares are disjoint, and stop all replicas before N changes.
	//
	// Run, and all waits, return [ErrSharded] for an informer of several sources, and for a share by
	// namespace ([shard.ByNamespace]) of a source that reads one namespace. They return [shard.ErrField] for
	// a share without a field. For a cluster-scoped kind, a share by namespace holds all objects or none.
	Shard shard.Assignment
	// HandlerName, if set, names the handlers that client-go's API adds: each gets this name and a number, in
	// the order in which they are added. By default they are named after their types.
	HandlerName string
	// Rand returns random numbers in [0, 1), which spread back-offs and watch durations. It defaults to a
	// random source. A simulation sets it to be repeatable. With several sources, several goroutines call
	// Rand.
	Rand func() float64
	// Observe, if set, gets all events of the informer, instead of [LogEvents]. It must be quick, because the
	// informer waits for each call. It may read the informer, but must not change it or wait for it. It must
	// not take a lock whose holder waits for the informer to stop.
	Observe func(Event)
}

// Validate returns an error for options that Run and all waits would refuse.
func (o Options[T]) Validate() error {
	u := engine.Options(o.Untyped())
	return u.Validate()
}

// Untyped returns the options for an informer of a type known only at run time, see [JoinShared].
func (o Options[T]) Untyped() Options[any] {
	return Options[any]{
		Name: o.Name, Resource: o.Resource, LabelIndexes: o.LabelIndexes, TransformDrops: o.TransformDrops, HandlerName: o.HandlerName,
		Resync: o.Resync, MinWatchTimeout: o.MinWatchTimeout, PageSize: o.PageSize,
		StreamPatience: o.StreamPatience, ListPatience: o.ListPatience,
		Decoding: o.Decoding, Storage: o.Storage, Shard: o.Shard, Rand: o.Rand, Observe: o.Observe,
		Indexes:   untypedIndexes(o.Indexes),
		Transform: untypedTransform(o.Transform),
	}
}

// untyped returns the engine's options, with the namespace index.
func (o Options[T]) untyped() engine.Options {
	u := engine.Options(o.Untyped())
	u.Indexes = engine.WithNamespaceIndex(u.Indexes)
	return u
}

func untypedIndexes[T any](indexes []indexer.Index[T]) []indexer.Index[any] {
	var untyped []indexer.Index[any]
	for _, ix := range indexes {
		untyped = append(untyped, ix.Untyped())
	}
	return untyped
}

func untypedTransform[T any](transform func(T) (T, error)) func(any) (any, error) {
	if transform == nil {
		return nil
	}
	return func(obj any) (any, error) {
		t, ok := obj.(T)
		if !ok {
			return nil, engine.TypeError(reflect.TypeFor[T](), obj)
		}
		return transform(t)
	}
}

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
