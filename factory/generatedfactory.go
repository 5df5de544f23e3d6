package factory

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// GeneratedFactory adapts a [Factory] to the accessors that informer-gen generates for a clientset of type C,
// such as that of a CRD.
type GeneratedFactory[C any, N ~func(C, time.Duration) cache.SharedIndexInformer] struct {
	factory *Factory
	client  C
}

// Generated returns a factory over f for generated accessors. C is the generated clientset, and N is the
// generated package's NewInformerFunc:
//
//	widgets.New(factory.Generated[versioned.Interface, internalinterfaces.NewInformerFunc](f, client), namespace, nil)
//
// For a type registered with [Register] it returns this module's informer, with the factory's own namespace
// and tweak, and does not run the generated constructor. For other types it runs their constructors.
func Generated[C any, N ~func(C, time.Duration) cache.SharedIndexInformer](f *Factory, client C) *GeneratedFactory[C, N] {
	return &GeneratedFactory[C, N]{f, client}
}

// InformerFor returns the informer of the type of obj.
func (g *GeneratedFactory[C, N]) InformerFor(obj runtime.Object, newFunc N) cache.SharedIndexInformer {
	object := reflect.TypeOf(obj)
	if g.factory.knows(object) {
		return g.factory.shared(object)
	}
	return g.factory.constructed(object, func(resync time.Duration) cache.SharedIndexInformer { return newFunc(g.client, resync) })
}

// InformerName returns the name of the factory.
func (g *GeneratedFactory[C, N]) InformerName() *cache.InformerName { return g.factory.name }

// Start starts the factory.
func (g *GeneratedFactory[C, N]) Start(stop <-chan struct{}) { g.factory.Start(stop) }
