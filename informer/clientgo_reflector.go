package informer

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// NewReflector returns what mirrors lw into any store of client-go's kind, and
// calls the store's Resync every resync period, zero for never. What it
// returns is this module's reflector: its Run takes a context, and Version is
// client-go's LastSyncResourceVersion. A store that transforms does so once for
// each object.
func NewReflector(lw cache.ListerWatcher, expectedType any, store cache.ReflectorStore, resync time.Duration) *reflector.Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, cache.ReflectorOptions{ResyncPeriod: resync})
}

// NewReflectorWithOptions is [NewReflector] with client-go's options. Of these,
// Clock and Backoff have no effect.
func NewReflectorWithOptions(lw cache.ListerWatcher, expectedType any, store cache.ReflectorStore, o cache.ReflectorOptions) *reflector.Reflector {
	name, logger := o.Name, klog.Background()
	if name == "" {
		name = o.TypeDescription
	}
	if name == "" {
		name = fmt.Sprintf("%T", expectedType)
	}
	if o.Logger != nil {
		logger = *o.Logger
	}
	return newStoreReflector(lw, expectedType, storeSettings{
		name: name, store: store, resync: o.ResyncPeriod, observe: logged(logger, name),
	}, reflector.Options{MinWatchTimeout: o.MinWatchTimeout})
}

// storeSettings say where a reflector writes, and what else it does.
type storeSettings struct {
	name    string
	store   cache.ReflectorStore
	resync  time.Duration
	due     func() bool // whether to resync when it is time; nil for always
	observe func(Event)
}

func newStoreReflector(lw cache.ListerWatcher, expectedType any, s storeSettings, o reflector.Options) *reflector.Reflector {
	o.Name = s.name
	o.Observe = func(e reflector.Event) { s.observe(e) }
	o.Type, o.Expect = expected(expectedType)
	var sink reflector.Sink
	if s.store != nil {
		sink = &storeSink{storeSettings: s}
	}
	return reflector.New(reflector.FromListerWatcher(lw), sink, o)
}

// expected returns what objects must be that are like an example: of its type
// and, where it is unstructured, of its kind.
func expected(example any) (reflect.Type, schema.GroupVersionKind) {
	if u, ok := example.(runtime.Unstructured); ok {
		return reflect.TypeOf(example), u.GetObjectKind().GroupVersionKind()
	}
	return reflect.TypeOf(example), schema.GroupVersionKind{}
}
