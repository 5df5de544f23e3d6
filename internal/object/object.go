package object

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Like returns the type of an example and, if it is unstructured, its kind: a reflector compares
// the objects that it gets with them. A nil example stands for any object.
func Like(example any) (reflect.Type, schema.GroupVersionKind) {
	if u, ok := example.(runtime.Unstructured); ok {
		return reflect.TypeOf(example), u.GetObjectKind().GroupVersionKind()
	}
	return reflect.TypeOf(example), schema.GroupVersionKind{}
}
