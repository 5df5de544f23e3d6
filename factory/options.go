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

// Option configures a [Factory]. The options are client-go's.
type Option func(*Factory)

// WithNamespace limits all informers of namespaced kinds to one namespace.
func WithNamespace(namespace string) Option {
	return func(f *Factory) { f.namespace = namespace }
}

// WithTweakListOptions passes the options of all requests through tweak. If it is given twice,
// the last one applies.
func WithTweakListOptions(tweak internalinterfaces.TweakListOptionsFunc) Option {
	return func(f *Factory) { f.tweak = tweak }
}

// WithTransform sets the transform of all informers. If the transform returns nil or an object of
// another type, the informer leaves the object out and reports it.
func WithTransform(transform cache.TransformFunc) Option {
	return func(f *Factory) { f.transform = transform }
}

// WithDecoding sets how all informers decode their objects: whether equal values are shared,
// which fields are left out (managedFields, say), and how objects that cannot be decoded are
// treated. For a type whose options are set by [Configure], their Decoding applies instead, unless it
// is zero.
func WithDecoding(d reflector.Decoding) Option {
	return func(f *Factory) { f.decoding = d }
}

// WithStorage sets how all informers hold their objects: decoded, or packed to a fraction of the memory.
// All of them have the same budget. For a type whose options are set by [Configure], their Storage
// applies instead, unless it is zero. Secrets are held decoded unless their own options pack them: a packed store may
// keep bytes of what was deleted. Informers with a negative budget report [informer.ErrNegative].
func WithStorage(s informer.Storage) Option {
	return func(f *Factory) { f.storage = s }
}

// WithShard makes the informers of some kinds read a share of the objects, see [informer.Options].Shard. The kinds are
// named by objects of their Go types, as in WithShard(shard.Static(share), &corev1.Pod{}); the informers of all others
// read everything, since a program that looks up Secrets or Nodes by their names needs each of them. For a type whose
// options are set by [Configure], their Shard applies instead, unless it is nil. If WithShard is given again, its kinds
// are added. Informers that a caller's constructor makes, see [Factory.InformerFor], read everything.
func WithShard(a shard.Assignment, first runtime.Object, more ...runtime.Object) Option {
	return func(f *Factory) {
		for _, kind := range append([]runtime.Object{first}, more...) {
			f.shards[reflect.TypeOf(kind)] = a
		}
	}
}

// WithIndexes adds indexes to all informers of the factory, such as those of package indexer/refs. For a type
// whose options are set by [Configure], an index of these with the same name applies instead. The index
// functions get the objects of all types. If an index has no name or no function, or two have one name, [For] returns
// [indexer.ErrIndexInvalid] or [indexer.ErrIndexExists], for a type that replaces the index as well, and so do
// WaitSynced and Run of each informer that has it. Informers that a caller's constructor makes, see
// [Factory.InformerFor], have none of these indexes.
func WithIndexes(indexes ...indexer.Index[any]) Option {
	return func(f *Factory) {
		f.indexes = append(f.indexes, indexes...)
		_, f.misuse = indexer.New(indexer.Options{Indexes: f.indexes})
	}
}

// WithCustomResyncConfig sets the resync periods of some types; the others have the factory's
// period.
func WithCustomResyncConfig(periods map[metav1.Object]time.Duration) Option {
	return func(f *Factory) {
		for obj, period := range periods {
			f.resyncs[reflect.TypeOf(obj)] = period
		}
	}
}

// WithInformerName names the factory; Shutdown releases the name.
func WithInformerName(name *cache.InformerName) Option {
	return func(f *Factory) { f.name = name }
}
