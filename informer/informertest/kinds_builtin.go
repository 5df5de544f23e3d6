package informertest

import (
	"iter"
	"reflect"
	"strings"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// builtinKinds returns the kinds that every server has: those that a typed client can list and watch. They
// are found only once, because the search takes as long as the rest of a server's start.
var builtinKinds = sync.OnceValue(findBuiltinKinds)

func findBuiltinKinds() []Kind {
	var kinds []Kind
	for group := range clientsOf(reflect.TypeFor[kubernetes.Interface]()) {
		for client := range clientsOf(group.Type.Out(0)) {
			if k, ok := kindOfClient(client); ok {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// builtinTypes returns client-go's schema of the built-in kinds.
var builtinTypes = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) })

// clientsOf yields the methods of an interface that return another interface.
func clientsOf(set reflect.Type) iter.Seq[reflect.Method] {
	return func(yield func(reflect.Method) bool) {
		for i := range set.NumMethod() {
			m := set.Method(i)
			if m.Type.NumOut() == 1 && m.Type.Out(0).Kind() == reflect.Interface && !yield(m) {
				return
			}
		}
	}
}

// kindOfClient derives a kind from a method such as Pods(namespace string) PodInterface. The resource has the
// method's name. The kind is namespaced if the method has a parameter, and has the subresources that the
// client has methods for.
func kindOfClient(m reflect.Method) (Kind, bool) {
	client := m.Type.Out(0)
	list, lists := client.MethodByName("List")
	if _, watches := client.MethodByName("Watch"); !lists || !watches {
		return Kind{}, false
	}
	items, _ := list.Type.Out(0).Elem().FieldByName("Items")
	object, ok := reflect.New(items.Type.Elem()).Interface().(runtime.Object)
	known, _, err := scheme.Scheme.ObjectKinds(object)
	if !ok || err != nil {
		return Kind{}, false // not a client of client-go
	}
	k := Kind{GVK: known[0], Namespaced: m.Type.NumIn() > 0}
	k.GVR = k.GVK.GroupVersion().WithResource(strings.ToLower(m.Name))
	traits := traitsOf(k.GVR.GroupResource())
	k.Generation, k.Fields = traits.generation, traits.fields
	_, k.Status = client.MethodByName("UpdateStatus")
	// Old groups, which servers no longer have, use Scale types of their own.
	scale, scales := client.MethodByName("GetScale")
	k.Scale = scales && scale.Type.Out(0) == reflect.TypeFor[*autoscalingv1.Scale]()
	return k, true
}
