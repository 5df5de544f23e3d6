package informertest

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// apiObject is what a [Server] stores: any object with metadata.
type apiObject interface {
	metav1.Object
	runtime.Object
}

// Kind is one resource that a [Server] serves.
type Kind struct {
	// GVR is the path of the resource, GVK the kind of its objects.
	GVR schema.GroupVersionResource
	GVK schema.GroupVersionKind
	// Namespaced says that each object lives in a namespace.
	Namespaced bool
	// Generation makes metadata.generation count the changes of the spec. Without it, the field
	// is not set.
	Generation bool
	// Status adds a subresource for the status, the only way for clients to change it. Scale adds
	// one for spec.replicas.
	Status, Scale bool
	// Fields returns the fields for field selectors besides metadata.name and, if the objects have
	// one, metadata.namespace. It returns the same fields for every object, also for an empty one,
	// and changes none. It may be nil.
	Fields func(obj runtime.Object) fields.Set
}

// kind is a Kind with the types of its scheme. The prototypes are only copied. All objects of the
// kind have the prototype's TypeMeta: it is empty for Go types, and full for unstructured
// objects.
type kind struct {
	Kind
	traits
	object apiObject
	list   runtime.Object
	// builtin: the kind is Kubernetes's own, not a CRD's.
	builtin bool
	// types returns the converter with the merge rules of the fields. It is a function, because
	// the schema of the built-in kinds takes long to read.
	types func() managedfields.TypeConverter
}

// protobuf reports whether the objects have a protobuf form.
func (k kind) protobuf() bool {
	_, ok := k.object.(runtime.ProtobufMarshaller)
	return ok
}

func (k kind) listGVK() schema.GroupVersionKind {
	return k.GVK.GroupVersion().WithKind(k.GVK.Kind + "List")
}

// fieldsOf returns all fields of an object for field selectors.
func (k kind) fieldsOf(obj apiObject) fields.Set {
	set := fields.Set{"metadata.name": obj.GetName()}
	if k.Namespaced || !k.declaresFields {
		set["metadata.namespace"] = obj.GetNamespace()
	}
	if k.Fields != nil {
		maps.Copy(set, k.Fields(obj))
	}
	return set
}

// bookmark returns an object with only a version.
func (k kind) bookmark(version uint64) apiObject {
	b := copyOf(k.object)
	b.SetResourceVersion(format(version))
	return b
}

// listOf wraps a page into the kind's list. The items are shallow copies.
func (k kind) listOf(p page) (runtime.Object, error) {
	list := k.list.DeepCopyObject()
	if err := meta.SetList(list, p.objects); err != nil {
		return nil, err
	}
	about, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	about.SetResourceVersion(format(p.version))
	about.SetContinue(p.next)
	about.SetRemainingItemCount(p.remaining)
	p.showShards(list)
	return list, nil
}

// withKind returns obj with its kind set: clients read it, and typed objects in a store lack it.
// It shares everything else with obj.
func withKind(obj runtime.Object, gvk schema.GroupVersionKind) runtime.Object {
	if _, ok := obj.(runtime.Unstructured); ok {
		return obj
	}
	named := reflect.New(reflect.TypeOf(obj).Elem())
	named.Elem().Set(reflect.ValueOf(obj).Elem())
	out := named.Interface().(runtime.Object)
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return out
}

// copyOf returns a deep copy. An object's copy is of the object's own type.
func copyOf(obj apiObject) apiObject { return obj.DeepCopyObject().(apiObject) }
