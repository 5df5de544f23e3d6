package factory

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

//go:generate sh -c "go run ./internal/kindgen > kinds.tmp && mv kinds.tmp kinds_generated.go"

// kind is what a factory knows of one Go type: what it lists, and how to make
// an informer of it.
type kind struct {
	resource   schema.GroupVersionResource
	object     reflect.Type
	namespaced bool
	source     func(c kubernetes.Interface, namespace string) reflector.Source
	// build makes an informer of the type, where a caller's use of For, Acquire,
	// Configure or Register has instantiated one; nil otherwise. Only then is
	// the generic stack compiled for a type: for all built-in ones it would take
	// a minute and gigabytes.
	build func([]reflector.Source, settings) *member
}

// global is the row of a cluster-scoped kind: how to get from the clientset to
// the client of its group, and from there to its own.
func global[T informer.Object, G any, C reflector.Client[L], L runtime.Object](group, version, resource string, in func(kubernetes.Interface) G, of func(G) C) kind {
	return kindOf[T](schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, false,
		func(c kubernetes.Interface, _ string) reflector.Source {
			if c == nil {
				return nil
			}
			return from[L](c, of(in(c)))
		})
}

// namespaced is the row of a namespaced kind.
func namespaced[T informer.Object, G any, C reflector.Client[L], L runtime.Object](group, version, resource string, in func(kubernetes.Interface) G, of func(G, string) C) kind {
	return kindOf[T](schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, true,
		func(c kubernetes.Interface, namespace string) reflector.Source {
			if c == nil {
				return nil
			}
			return from[L](c, of(in(c), namespace))
		})
}

func kindOf[T informer.Object](resource schema.GroupVersionResource, namespaced bool, source func(kubernetes.Interface, string) reflector.Source) kind {
	return kind{
		resource:   resource,
		object:     reflect.TypeFor[T](),
		namespaced: namespaced,
		source:     source,
	}
}

// teach lets the factory make typed informers of a type that it knows. The
// caller holds mu.
func teach[T informer.Object](f *Factory) {
	if k, ok := f.kinds[reflect.TypeFor[T]()]; ok {
		k.build = build[T]
		f.kinds[k.object] = k
	}
}
