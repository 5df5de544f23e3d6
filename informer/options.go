package informer

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Options configure an informer. The zero value is an informer with the index "namespace", without
// a transform and without resyncs, that logs its problems.
type Options[T any] struct {
	// Name stands in messages; empty for the name of T.
	Name string
	// Resource names the kind in the lister's NotFound errors.
	Resource schema.GroupResource
	// Indexes are added to the index by namespace. An index named [indexer.NamespaceIndex] replaces
	// it.
	Indexes []indexer.Index[T]
	// LabelIndexes are label keys indexed from the beginning, for selectors. Other label keys get
	// an index when selectors have used them repeatedly, see [indexer.Indexer.LabelIndexes].
	LabelIndexes []string
	// Transform, if set, prepares each received object for the store; it may, for instance, remove
	// fields that nobody reads (client-go's TransformFunc). It is called exactly once for each
	// object, on the goroutine that reads the source, with no lock held, and may change the object
	// in place. If it fails on an object, panics, or ends the goroutine, the object is quarantined,
	// see [QuarantineError].
	Transform func(T) (T, error)
	// Resync is the period in which all objects are delivered again to each handler that sets none
	// of its own; zero for never.
	Resync time.Duration
	// MinWatchTimeout is the shortest timeout requested for a watch; less than five minutes stand
	// for five minutes.
	MinWatchTimeout time.Duration
	// StreamPatience is how long a stream of the initial state may be silent, and ListPatience how
	// long a list, or one page of a list, may take. Slow clusters need more. Zero stands for ten
	// seconds and ten minutes, see [reflector.Options].
	StreamPatience, ListPatience time.Duration
	// PageSize, if not zero, makes all lists come in pages of that many objects.
	PageSize int64
	// Decoding says how objects are decoded: the values they share, the fields left out, and the
	// treatment of undecodable objects.
	reflector.Decoding
	// Rand returns the numbers in [0, 1) that spread back-offs and watch timeouts; nil for random
	// ones. A simulation sets it to repeat itself. With several sources it is called from several
	// goroutines.
	Rand func() float64
	// Observe, if set, is called with each event of the informer, instead of [LogEvents]. The
	// informer waits for each call, so Observe must be quick and must not call the informer. It
	// must not wait for a lock either whose holder waits for the informer to stop, as a caller may
	// do that acquires or restarts it in a factory.
	Observe func(Event)
}

func (o *Options[T]) validate() error {
	if o.Resync < 0 || o.MinWatchTimeout < 0 || o.StreamPatience < 0 || o.ListPatience < 0 || o.PageSize < 0 {
		return ErrNegative
	}
	return o.Validate()
}

// Untyped returns the options of the untyped core, see [JoinShared].
func (o Options[T]) Untyped() Options[any] {
	return Options[any]{
		Name: o.Name, Resource: o.Resource, LabelIndexes: o.LabelIndexes,
		Resync: o.Resync, MinWatchTimeout: o.MinWatchTimeout, PageSize: o.PageSize,
		StreamPatience: o.StreamPatience, ListPatience: o.ListPatience,
		Decoding: o.Decoding, Rand: o.Rand, Observe: o.Observe,
		Indexes:   untypedIndexes(o.Indexes),
		Transform: untypedTransform(o.Transform),
	}
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
			return nil, typeError(reflect.TypeFor[T](), obj)
		}
		return transform(t)
	}
}

// withNamespaceIndex adds the index by namespace, unless it is there.
func withNamespaceIndex(indexes []indexer.Index[any]) []indexer.Index[any] {
	for _, ix := range indexes {
		if ix.Name == indexer.NamespaceIndex {
			return indexes
		}
	}
	byNamespace := indexer.Index[any]{Name: indexer.NamespaceIndex, ByNamespace: true}
	return append([]indexer.Index[any]{byNamespace}, indexes...)
}
