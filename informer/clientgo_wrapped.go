package informer

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// SharedOf returns the informer of this module behind client-go's interface. Client-go's
// generated accessors and constructors wrap each informer in a typed view: SharedOf looks
// behind that. It returns false for an informer of another module.
func SharedOf(i cache.SharedIndexInformer) (Shared, bool) {
	ours, ok := unwrapped(i).(Shared)
	return ours, ok
}

// unwrapped returns the informer that client-go's typed views stand for. Their type is
// not exported, and has a method for each type of objects, so no interface tells it.
func unwrapped(i cache.SharedIndexInformer) cache.SharedIndexInformer {
	for {
		v := reflect.ValueOf(i)
		if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct || v.Elem().Type().PkgPath() != clientgoPackage {
			return i
		}
		inner, ok := v.Elem().Type().FieldByName("SharedIndexInformer")
		if !ok || !inner.Anonymous {
			return i
		}
		next, ok := v.Elem().FieldByIndex(inner.Index).Interface().(cache.SharedIndexInformer)
		if !ok { // nil
			return i
		}
		i = next
	}
}

// clientgoPackage is where client-go's typed views are.
var clientgoPackage = reflect.TypeFor[cache.ListWatch]().PkgPath()
