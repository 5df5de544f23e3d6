package informertest

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The functions below read and write fields of objects of any kind: of structs by the names of the
// Go fields, of unstructured objects by those of JSON. The types of a scheme are pointers to
// structs.

// goField returns the field of a struct at a path of field names. The result is invalid if the type
// has no such field.
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

// sameSpec reports whether two objects have the same spec. For unstructured objects, as for CRDs,
// the spec is everything but the metadata and a status with a subresource.
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

// setStatus sets the status of an object to that of another object of the kind. The two share it
// then.
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

// resetStatus sets the status of a new object as a server does: to that of an empty object, with the
// kind's first phase.
func (k kind) resetStatus(obj apiObject) {
	if !k.Status || k.bornWithStatus {
		return
	}
	setStatus(obj, k.object)
	if k.phase != "" {
		goField(obj, "Status", "Phase").SetString(k.phase)
	}
}
