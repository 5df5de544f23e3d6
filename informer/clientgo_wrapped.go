package informer

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// SharedOf returns the informer of this module behind client-go's interface, and false for an
// informer of another module. It unwraps the typed views in which client-go's generated accessors
// and constructors return their informers.
func SharedOf(i cache.SharedIndexInformer) (Shared, bool) {
	ours, ok := unwrapped(i).(Shared)
	return ours, ok
}

// unwrapped returns the informer inside client-go's typed views. It uses reflection: the views' type
// is not exported, and has no method that they all share.
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

// clientgoPackage is the package of client-go's typed views.
var clientgoPackage = reflect.TypeFor[cache.ListWatch]().PkgPath()
