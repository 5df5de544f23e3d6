package informer

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Options configure an informer. The zero value is an informer with the index
// "namespace", without a transform and without resyncs, that logs its troubles.
type Options[T any] struct {
	// Name stands in messages; empty for the name of T.
	Name string
	// Resource names the kind in the lister's NotFound errors.
	Resource schema.GroupResource
	// Indexes are kept beside the one by namespace. One that is itself named
	// [indexer.NamespaceIndex] replaces that.
	Indexes []indexer.Index[T]
	// LabelIndexes are label keys that objects are listed by from the beginning, for
	// selectors. Others get a list when selectors have asked for them repeatedly, see
	// [indexer.Indexer.LabelIndexes].
	LabelIndexes []string
	// Transform, if set, makes of each object received what is stored, for
	// instance without the fields that nobody reads (client-go's
	// TransformFunc). It is called exactly once for each, on the goroutine that
	// reads the source, with no lock held, and may change the object in place. An
	// object that it fails on, panics on, or ends the goroutine on, is quarantined,
	// see [QuarantineError].
	Transform func(T) (T, error)
	// Resync is how often all objects are delivered to each handler again,
	// unless the handler says otherwise; zero for never.
	Resync time.Duration
	// MinWatchTimeout is the least time that a watch is asked to last; less
	// than five minutes stand for five minutes.
	MinWatchTimeout time.Duration
	// StreamPatience is how long a stream of the initial state may bring nothing, and
	// ListPatience how long a list, or each page of one, may take: more for a cluster
	// whose servers are slow. Zero stands for ten seconds and ten minutes, see
	// [reflector.Options].
	StreamPatience, ListPatience time.Duration
	// PageSize, if not zero, makes all lists come in pages of that many objects.
	PageSize int64
	// Decoding says how objects are decoded: which values they share, what is left
	// out of them, and what becomes of those that cannot be decoded.
	reflector.Decoding
	// Rand returns the numbers in [0, 1) that spread back-offs and the times
	// that watches last; nil for chance. A simulation sets it to repeat itself.
	// With several sources it is called from several goroutines.
	Rand func() float64
	// Observe, if set, is told everything that the informer notices, instead
	// of [LogEvents]. The informer waits for each call: it must be quick, must not
	// call the informer, and must not wait for a lock that somebody holds who waits for
	// the informer to stop, as those who acquire or restart it in a factory may do.
	Observe func(Event)
}

func (o *Options[T]) validate() error {
	if o.Resync < 0 || o.MinWatchTimeout < 0 || o.StreamPatience < 0 || o.ListPatience < 0 || o.PageSize < 0 {
		return ErrNegative
	}
	return o.Validate()
}

// Untyped returns the options as an informer has them inside, see [JoinShared].
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

// withNamespaceIndex returns indexes with the one by namespace among them.
func withNamespaceIndex(indexes []indexer.Index[any]) []indexer.Index[any] {
	for _, ix := range indexes {
		if ix.Name == indexer.NamespaceIndex {
			return indexes
		}
	}
	byNamespace := indexer.Index[any]{Name: indexer.NamespaceIndex, ByNamespace: true}
	return append([]indexer.Index[any]{byNamespace}, indexes...)
}
