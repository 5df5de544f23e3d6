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

// kind is a row of the factory's table: a Go type, its resource, and how to make its source.
type kind struct {
	resource   schema.GroupVersionResource
	object     reflect.Type
	namespaced bool
	source     func(c kubernetes.Interface, namespace string) (reflector.Source, error)
}

// global returns the row of a cluster-scoped kind. in returns the client of a group from the clientset, and
// of returns the client of the kind from the client of the group.
func global[T informer.Object, G any, C reflector.Client[L], L runtime.Object](group, version, resource string, in func(kubernetes.Interface) G, of func(G) C) kind {
	gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	return kindOf[T](gvr, false, func(c kubernetes.Interface, _ string) (reflector.Source, error) {
		return ofClient(c, func() reflector.Source { return reflector.FromGenerated[T, L](of(in(c)), gvr) }), nil
	})
}

// namespaced returns the row of a namespaced kind.
func namespaced[T informer.Object, G any, C reflector.Client[L], L runtime.Object](group, version, resource string, in func(kubernetes.Interface) G, of func(G, string) C) kind {
	gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	return kindOf[T](gvr, true, func(c kubernetes.Interface, namespace string) (reflector.Source, error) {
		return ofClient(c, func() reflector.Source { return reflector.FromGenerated[T, L](of(in(c), namespace), gvr) }), nil
	})
}

func kindOf[T informer.Object](resource schema.GroupVersionResource, namespaced bool, source func(kubernetes.Interface, string) (reflector.Source, error)) kind {
	return kind{
		resource:   resource,
		object:     reflect.TypeFor[T](),
		namespaced: namespaced,
		source:     source,
	}
}
