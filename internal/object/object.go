package object

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// secrets is the kind of the objects whose strings must not stay in memory longer than they do.
var secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// IsSecrets reports whether a resource is that of Secrets.
func IsSecrets(r schema.GroupResource) bool {
	return r.Group == secrets.Group && r.Resource == "secrets"
}

// HoldsSecrets reports whether objects like an example are Secrets, by its kind or by its Go type.
func HoldsSecrets(example runtime.Object) bool {
	switch example.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		return example.GetObjectKind().GroupVersionKind() == secrets
	}
	t := reflect.TypeOf(example)
	return t != nil && t.String() == "*v1.Secret" && t.Elem().PkgPath() == "k8s.io/api/core/v1"
}
