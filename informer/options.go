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

// Options configure an informer. The zero value gives an informer with the index "namespace", no
// transform and no resyncs, which logs its events (see [LogEvents]).
type Options[T any] struct {
	// Name names the informer in messages; empty for the name of T.
	Name string
	// Resource names the kind in the lister's NotFound errors; empty for the resource of the source.
	Resource schema.GroupResource
	// Indexes are kept in addition to the namespace index. An index named
	// [indexer.NamespaceIndex] replaces the namespace index.
	Indexes []indexer.Index[T]
	// LabelIndexes are the label keys that have an index for selectors from the beginning. Other
	// label keys get one after selectors have asked for them repeatedly, see
	// [indexer.Indexer.Select].
	LabelIndexes []string
	// Transform, if set, turns each received object into the stored object, for instance by
	// removing fields that nobody reads (client-go's TransformFunc). It is called exactly once
	// for each object received, with no lock held, and may change the object in place. The reflector's
	// goroutine calls it for objects that the source sends, and another goroutine for the object in the
	// answer to a write of the program, see [reflector.OwnWrites]; the two never call it at once. If
	// Transform returns an error or nil, panics, or changes the namespace or name, the object is
	// quarantined, see [QuarantineError].
	Transform func(T) (T, error)
	// TransformDrops, if set, is called with each transform that client-go's SetTransform sets. If it
	// returns fields, the transform does no more than remove these: the informer adds them to Drop, and does
	// not call the transform. If it returns nil, the transform runs.
	TransformDrops func(transform func(any) (any, error)) []string
	// Resync is the period after which all objects are delivered to each handler again, unless
	// the handler has its own period; zero for never.
	Resync time.Duration
	// MinWatchTimeout is the shortest duration requested for a watch. Values below five minutes
	// count as five minutes.
	MinWatchTimeout time.Duration
	// StreamPatience is how long a stream of the initial state may be silent, ListPatience how long
	// a list, or each page of a list, may take. Zero means ten seconds and ten minutes; slow
	// servers may need more. See [reflector.Options].
	StreamPatience, ListPatience time.Duration
	// PageSize, if not zero, makes every list request pages of that many objects.
	PageSize int64
	// Decoding configures how objects are decoded: which values they share, which fields are
	// dropped, and how objects that cannot be decoded are handled.
	reflector.Decoding
	// Storage says how the store holds the objects: decoded, or packed to a fraction of the memory.
	Storage Storage
	// Shard, if set, limits the informer to a share of the objects: N replicas of a program read 1/N each.
	// The informer asks for its share once, when it begins. Nothing keeps two processes apart: make sure that
	// their shares are disjoint, and stop all of them before N changes.
	//
	// An informer of several sources, or of one namespace with [shard.ByNamespace], has no share: Run returns
	// [ErrSharded]. Of a cluster-scoped kind, a share of namespaces holds all objects or none. Run returns
	// [shard.ErrField] for a share without a field. The waits return what Run returns.
	Shard shard.Assignment
	// HandlerName, if set, names the handlers that client-go's API adds: each gets this name and a number, in
	// the order in which they are added. Otherwise they are named after their types.
	HandlerName string
	// Rand returns random numbers in [0, 1), which spread back-offs and the durations of watches;
	// nil for a random source. A simulation sets it to be repeatable. With several sources, Rand
	// is called from several goroutines.
	Rand func() float64
	// Observe, if set, gets all events of the informer, instead of [LogEvents]. The informer
	// waits for each call: Observe must be quick. It may look at the informer, and must neither
	// change it nor wait for it; nor must it wait for a lock whose holder waits for the informer to
	// stop.
	Observe func(Event)
}

// Validate returns an error for an option that an informer refuses: Run, and all waits, return the same.
func (o Options[T]) Validate() error {
	u := engine.Options(o.Untyped())
	return u.Validate()
}

// Untyped returns the options of an informer of a type known only at run time, see [JoinShared].
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

// untyped returns the options of the engine, with the namespace index.
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
