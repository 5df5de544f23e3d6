package informer

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// ForControllerRuntime is [ForListerWatcher] for the cache of a controller-runtime manager,
// whose ListerWatchers are plain requests:
//
//	config.Wrap(reflector.Wire)
//	manager, err := manager.New(config, manager.Options{Cache: cache.Options{NewInformer: informer.ForControllerRuntime}})
//
// With [reflector.Wire] in the manager's configuration the informers decode the server's answers
// themselves. They hold objects of example's Go type alone, as the manager's client requires (D25: others
// are left out, and reported), so that [As] of that type returns their typed views. The module
// controllerruntime does the same with options.
func ForControllerRuntime(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return sharedOf(lw, example, clientgoSettings{
		source:  reflector.FromControllerRuntime(lw, example),
		options: Options[any]{Resync: resync},
		indexes: ix,
		metrics: newMetrics(cache.InformerNameAndResource{}, nil),
		typed:   true,
	})
}
