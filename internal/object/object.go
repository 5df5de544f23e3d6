package object

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Like returns the type of an example and, of an unstructured one, its kind: a
// reflector checks with them what it gets. Nil is like anything.
func Like(example any) (reflect.Type, schema.GroupVersionKind) {
	if u, ok := example.(runtime.Unstructured); ok {
		return reflect.TypeOf(example), u.GetObjectKind().GroupVersionKind()
	}
	return reflect.TypeOf(example), schema.GroupVersionKind{}
}
