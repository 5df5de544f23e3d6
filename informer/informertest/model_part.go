package informertest

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// These look into objects of any kind: into structs by the names of the
// fields, and into unstructured ones by those of JSON. A scheme holds nothing
// but pointers to structs.

// goField returns a field at the top of a struct, or below others. It is not
// valid where the type has no such field.
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

// sameSpec tells whether two objects want the same. Where there is no Go type,
// that is all but the metadata and what a subresource keeps apart, as for CRDs.
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

// setStatus gives an object the status of another one of its kind, which then
// belongs to both.
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

// phases are the phases that objects of some kinds are born in.
var phases = map[string]string{
	"namespaces":             "Active",
	"persistentvolumeclaims": "Pending",
	"persistentvolumes":      "Pending",
	"pods":                   "Pending",
}

// resetStatus makes of the status of a new object what a server makes of it.
// Only a node comes with one, since a kubelet knows what it is.
func (k kind) resetStatus(obj Object) {
	if !k.Status || k.builtin && k.GVR.Resource == "nodes" {
		return
	}
	setStatus(obj, k.object)
	if phase, ok := phases[k.GVR.Resource]; ok && k.builtin {
		goField(obj, "Status", "Phase").SetString(phase)
	}
}
