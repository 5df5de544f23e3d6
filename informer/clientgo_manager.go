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

	shards []sharedKind
}

// sharedKind is a kind with a share.
type sharedKind struct {
	kind runtime.Object
	of   shard.Assignment
}

// WithShard returns a copy of c. Its informers of some kinds read a share of the objects, see [Options].Shard. The
// kinds are named by objects of their Go types, such as &corev1.Pod{}. Unstructured objects and metadata alone
// (metav1.PartialObjectMetadata) also name a group, version and kind; a kind that the manager reads in two forms is
// named in both. All other kinds are read whole: a manager's client that looks up Secrets or Nodes by name needs each
// of them. A kind that is named again gets the new Assignment.
func (c ControllerRuntime) WithShard(a shard.Assignment, first runtime.Object, more ...runtime.Object) ControllerRuntime {
	c.shards = slices.Clone(c.shards)
	for _, kind := range append([]runtime.Object{first}, more...) {
		c.shards = append(c.shards, sharedKind{kind, a})
	}
	return c
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
	for _, s := range slices.Backward(c.shards) {
		if sameKind(s.kind, example) {
			return s.of
		}
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
