package informer

import (
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// ForControllerRuntime is [ForListerWatcher] for the cache of a controller-runtime manager,
// whose ListerWatchers are plain requests:
//
//	config.Wrap(reflector.Wire)
//	manager, err := manager.New(config, manager.Options{Cache: cache.Options{NewInformer: informer.ForControllerRuntime}})
//
// With [reflector.Wire] in the manager's configuration the informers decode the server's answers
// themselves. They hold objects of example's Go type alone, as the manager's client requires (D25: others
// are left out, and reported), so that [As] of that type returns their typed views.
func ForControllerRuntime(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return ControllerRuntime{}.NewInformer(lw, example, resync, ix)
}

// ControllerRuntime makes the informers of a controller-runtime manager with options. The zero value makes
// those of [ForControllerRuntime]:
//
//	packed := informer.ControllerRuntime{Storage: informer.Storage{Decoded: informer.NewBudget(64 << 20)}}
//	manager, err := manager.New(config, manager.Options{Cache: cache.Options{NewInformer: packed.NewInformer}})
type ControllerRuntime struct {
	// Storage says how the informers hold their objects. All informers have the same budget. Those of Secrets hold
	// them decoded, see [Storage].
	Storage Storage
	// Shard makes the informers of ShardKinds read a share of the objects, see [Options].Shard; nil means everything.
	Shard shard.Assignment
	// ShardKinds are the kinds that are shared: objects of their Go types, such as &corev1.Pod{}. Of unstructured
	// objects and of metadata alone (metav1.PartialObjectMetadata) the kind counts as well; a kind that the manager
	// reads in two forms is named in both. All other kinds are read whole: a manager's client that looks up Secrets or
	// Nodes by their names needs each of them. Of kinds without namespaces a share of [shard.ByNamespace] holds all
	// objects or none. With a Shard and no kinds, or a nil one, each informer returns [ErrNoKinds] from WaitSynced and
	// Run.
	ShardKinds []runtime.Object
}

// NewInformer makes an informer, as [ForControllerRuntime] does. An invalid option is returned by the next
// call that returns an error, and logged by Run.
func (c ControllerRuntime) NewInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return sharedOf(lw, example, clientgoSettings{
		source:  reflector.FromControllerRuntime(lw, example),
		options: Options[any]{Resync: resync, Storage: c.storageOf(example), Shard: c.shardOf(example)},
		indexes: ix,
		metrics: newMetrics(cache.InformerNameAndResource{}, nil),
		typed:   true,
	})
}

// storageOf returns the Storage of the informer of an example.
func (c ControllerRuntime) storageOf(example runtime.Object) Storage {
	if object.HoldsSecrets(example) {
		return Storage{}
	}
	return c.Storage
}

// shardOf returns the Assignment of the informer of an example, nil for everything.
func (c ControllerRuntime) shardOf(example runtime.Object) shard.Assignment {
	switch {
	case c.Shard == nil:
		return nil
	case len(c.ShardKinds) == 0, slices.Contains(c.ShardKinds, nil):
		return noKinds{c.Shard}
	case slices.ContainsFunc(c.ShardKinds, func(kind runtime.Object) bool { return sameKind(kind, example) }):
		return c.Shard
	}
	return nil
}

// sameKind reports whether two objects are of one Go type and, if that stands for many kinds, of one kind.
func sameKind(a, b runtime.Object) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	switch a.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		return a.GetObjectKind().GroupVersionKind() == b.GetObjectKind().GroupVersionKind()
	}
	return true
}

// noKinds is an Assignment for which no kinds were named.
type noKinds struct{ shard.Assignment }

// Unusable returns ErrNoKinds.
func (noKinds) Unusable(shard.Field) error { return ErrNoKinds }
