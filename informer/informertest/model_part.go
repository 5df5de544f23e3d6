package informertest

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// These functions look into objects of any kind: into structs by the fields' Go names, and into
// unstructured objects by the names in JSON. A scheme holds only pointers to structs.

// goField returns a field of a struct, or below other fields. The value is not valid if the type
// has no such field.
func goField(obj Object, path ...string) reflect.Value {
	v := reflect.ValueOf(obj).Elem()
	for _, name := range path {
		if v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		v = v.FieldByName(name)
	}
	return v
}

// sameSpec reports whether two objects have the same spec. Without a Go type, as for CRDs, the
// spec is everything except the metadata and the subresources' fields.
func (k kind) sameSpec(a, b Object) bool {
	return equality.Semantic.DeepEqual(k.specOf(a), k.specOf(b))
}

func (k kind) specOf(obj Object) any {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		spec := maps.Clone(u.Object)
		delete(spec, "metadata")
		if k.Status {
			delete(spec, "status")
		}
		return spec
	}
	if spec := goField(obj, "Spec"); spec.IsValid() {
		return spec.Interface()
	}
	return nil
}

// setStatus gives an object the status of another one. Both share it then.
func setStatus(obj, from Object) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		goField(obj, "Status").Set(goField(from, "Status"))
		return
	}
	if status, ok := from.(*unstructured.Unstructured).Object["status"]; ok {
		u.Object["status"] = status
	} else {
		delete(u.Object, "status")
	}
}

// phases are the initial phases of some kinds.
var phases = map[string]string{
	"namespaces":             "Active",
	"persistentvolumeclaims": "Pending",
	"persistentvolumes":      "Pending",
	"pods":                   "Pending",
}

// resetStatus sets the status of a new object as a server does. Only a node keeps its own, which
// comes from a kubelet.
func (k kind) resetStatus(obj Object) {
	if !k.Status || k.builtin && k.GVR.Resource == "nodes" {
		return
	}
	setStatus(obj, k.object)
	if phase, ok := phases[k.GVR.Resource]; ok && k.builtin {
		goField(obj, "Status", "Phase").SetString(phase)
	}
}
