package object

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Like returns the type of an example and, if it is unstructured, its kind. A reflector checks that
// received objects match them. A nil example matches any object.
func Like(example any) (reflect.Type, schema.GroupVersionKind) {
	if u, ok := example.(runtime.Unstructured); ok {
		return reflect.TypeOf(example), u.GetObjectKind().GroupVersionKind()
	}
	return reflect.TypeOf(example), schema.GroupVersionKind{}
}

// secrets is the kind whose strings must not stay in memory longer than the objects.
var secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// IsSecrets reports whether a resource is Secrets.
func IsSecrets(r schema.GroupResource) bool {
	return r.Group == secrets.Group && r.Resource == "secrets"
}

// HoldsSecrets reports whether objects like an example are Secrets. It looks at the kind and at the Go
// type.
func HoldsSecrets(example runtime.Object) bool {
	switch example.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		return example.GetObjectKind().GroupVersionKind() == secrets
	}
	t := reflect.TypeOf(example)
	return t != nil && t.String() == "*v1.Secret" && t.Elem().PkgPath() == "k8s.io/api/core/v1"
}
