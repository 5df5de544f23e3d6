package object

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Meta returns the metadata of an object, or nil if it has none.
func Meta(obj any) metav1.Object {
	switch o := obj.(type) {
	case metav1.Object:
		return o
	case metav1.ObjectMetaAccessor:
		return o.GetObjectMeta()
	}
	return nil
}

// IsNil reports whether an interface is nil, or holds a nil pointer.
func IsNil(x any) bool {
	v := reflect.ValueOf(x)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Key returns an object's key in the store.
func Key(m metav1.Object) indexer.Key {
	return indexer.Key{Namespace: m.GetNamespace(), Name: m.GetName()}
}

// KeyOf returns the key of an object. It returns false if the object has no metadata.
func KeyOf(obj any) (key indexer.Key, ok bool) {
	m := Meta(obj)
	if m == nil {
		return indexer.Key{}, false
	}
	return Key(m), true
}

// Labels returns an object's labels.
func Labels(obj any) map[string]string {
	if m := Meta(obj); m != nil {
		return m.GetLabels()
	}
	return nil
}

// Namespace returns an object's namespace.
func Namespace(obj any) string {
	if m := Meta(obj); m != nil {
		return m.GetNamespace()
	}
	return ""
}

// Same reports whether a and b are the same object. It returns false for types that cannot be compared,
// which are not pointers.
func Same(a, b any) bool {
	if t := reflect.TypeOf(a); t != nil && t.Kind() == reflect.Pointer {
		return a == b // the usual case; Comparable below allocates
	}
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
