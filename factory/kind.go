package factory

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

//go:generate go run ./internal/kindgen

// kind is what a factory knows of one Go type: what it lists, and where from.
type kind struct {
	resource   schema.GroupVersionResource
	object     reflect.Type
	namespaced bool
	source     func(c kubernetes.Interface, namespace string) reflector.Source
}

// global is the row of a cluster-scoped kind: how to get from the clientset to
// the client of its group, and from there to its own.
func global[T informer.Object, G any, C reflector.Client[L], L runtime.Object](group, version, resource string, in func(kubernetes.Interface) G, of func(G) C) kind {
	gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	return kindOf[T](gvr, false, func(c kubernetes.Interface, _ string) reflector.Source {
		if c == nil {
			return nil
		}
		return asked(c, reflector.FromGenerated[T, L](of(in(c)), gvr))
	})
}

// namespaced is the row of a namespaced kind.
func namespaced[T informer.Object, G any, C reflector.Client[L], L runtime.Object](group, version, resource string, in func(kubernetes.Interface) G, of func(G, string) C) kind {
	gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	return kindOf[T](gvr, true, func(c kubernetes.Interface, namespace string) reflector.Source {
		if c == nil {
			return nil
		}
		return asked(c, reflector.FromGenerated[T, L](of(in(c), namespace), gvr))
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
