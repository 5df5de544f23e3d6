package informertest

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The functions below read and write fields of any kind's objects: in structs by Go field names, and in
// unstructured objects by JSON names. The types of a scheme are pointers to structs.

// goField returns the field of a struct at a path of field names. If the type has no such field, the result
// is invalid.
func goField(obj apiObject, path ...string) reflect.Value {
	v := reflect.ValueOf(obj).Elem()
	for _, name := range path {
		if v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		v = v.FieldByName(name)
	}
	return v
}

// sameSpec reports whether two objects have the same spec. For unstructured objects, as for CRDs, the spec is
// everything except the metadata and, if it is a subresource, the status.
func (k kind) sameSpec(a, b apiObject) bool {
	return equality.Semantic.DeepEqual(k.specOf(a), k.specOf(b))
}

func (k kind) specOf(obj apiObject) any {
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

// setStatus copies the status of from to obj. The two objects then share it.
func setStatus(obj, from apiObject) {
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

// resetStatus sets the status of a new object as a server does: to an empty status with the kind's first
// phase.
func (k kind) resetStatus(obj apiObject) {
	if !k.Status || k.bornWithStatus {
		return
	}
	setStatus(obj, k.object)
	if k.phase != "" {
		goField(obj, "Status", "Phase").SetString(k.phase)
	}
}
