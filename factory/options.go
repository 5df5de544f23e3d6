package factory

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// Option configures a [Factory]. Client-go has the same options, except for WithDecoding, WithStorage,
// WithShard and WithIndexes.
type Option func(*Factory)

// WithNamespace limits all informers of namespaced kinds to one namespace.
func WithNamespace(namespace string) Option {
	return func(f *Factory) { f.namespace = namespace }
}

// WithTweakListOptions passes the options of all requests through tweak. If it is given several times, only
// the last one applies.
func WithTweakListOptions(tweak internalinterfaces.TweakListOptionsFunc) Option {
	return func(f *Factory) { f.tweak = tweak }
}

// WithTransform sets the transform of all informers. If it returns nil or an object of another type, the
// informer leaves the object out and reports it.
func WithTransform(transform cache.TransformFunc) Option {
	return func(f *Factory) { f.transform = transform }
}

// WithDecoding sets how all informers decode their objects: whether equal values are shared, which fields are
// dropped (such as managedFields), and what happens to objects that cannot be decoded. A Decoding set by
// [Configure] takes precedence, unless it is zero.
func WithDecoding(d reflector.Decoding) Option {
	return func(f *Factory) { f.decoding = d }
}

// WithStorage sets how all informers hold their objects: decoded, or packed into a fraction of the memory.
// All of them share one budget. A Storage set by [Configure] takes precedence, unless it is zero. Secrets are
// held decoded unless their own options pack them, because a packed store may keep bytes of deleted objects.
// Informers with a negative budget report [informer.ErrOutOfRange]. Packed storage is experimental: its
// options, and what is packed, may change.
func WithStorage(s informer.Storage) Option {
	return func(f *Factory) { f.storage = s }
}

// WithShard makes the informers of some kinds read a share of the objects, see [informer.Options].Shard.
// Objects of their Go types name the kinds, as in WithShard(shard.Static(share), &corev1.Pod{}). The
// informers of all other kinds read everything, because a program that looks up Secrets or Nodes by name
// needs all of them. A Shard set by [Configure] takes precedence, unless it is nil. WithShard may be given
// several times. Informers of a caller's constructor ([Factory.InformerFor]) read everything. Shards are
// experimental: the server's selector is alpha, and this API may change with it.
func WithShard(a shard.Assignment, first runtime.Object, more ...runtime.Object) Option {
	return func(f *Factory) {
		for _, kind := range append([]runtime.Object{first}, more...) {
			f.shards[reflect.TypeOf(kind)] = a
		}
	}
}

// WithIndexes adds indexes to all informers of the factory, such as those of package indexer/refs. The index
// functions get the objects of all types. An index set by [Configure] replaces one of the same name.
// Informers of a caller's constructor ([Factory.InformerFor]) have none of these indexes.
//
// If an index has no name or no function, or two have the same name, [For], and WaitSynced and Run of each
// informer with that index, return [indexer.ErrIndexInvalid] or [indexer.ErrIndexExists]. For does so even
// for a type that replaces the index.
func WithIndexes(indexes ...indexer.Index[any]) Option {
	return func(f *Factory) {
		f.indexes = append(f.indexes, indexes...)
		_, f.misuse = indexer.New(indexer.Options{Indexes: f.indexes})
	}
}

// WithCustomResyncConfig sets the resync periods of some types. Other types have the factory's period.
func WithCustomResyncConfig(periods map[metav1.Object]time.Duration) Option {
	return func(f *Factory) {
		for obj, period := range periods {
			f.resyncs[reflect.TypeOf(obj)] = period
		}
	}
}

// WithInformerName sets the name of the factory, which Shutdown releases.
func WithInformerName(name *cache.InformerName) Option {
	return func(f *Factory) { f.name = name }
}
