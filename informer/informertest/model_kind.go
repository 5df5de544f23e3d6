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

// apiObject is an object that a [Server] stores: any object with metadata.
type apiObject interface {
	metav1.Object
	runtime.Object
}

// Kind describes a resource that a [Server] serves.
type Kind struct {
	// GVR identifies the resource, and GVK the kind of its objects.
	GVR schema.GroupVersionResource
	GVK schema.GroupVersionKind
	// Namespaced is set if the objects belong to namespaces.
	Namespaced bool
	// Generation makes metadata.generation count the changes of the spec. Without it, metadata.generation is
	// not set.
	Generation bool
	// Status adds a subresource for the status. Clients can then change the status only there. Scale adds a
	// subresource for spec.replicas.
	Status, Scale bool
	// Fields, if set, returns an object's fields for field selectors, in addition to metadata.name and
	// metadata.namespace. It must return the same field names for every object, even for an empty one, and
	// must not change the object.
	Fields func(obj runtime.Object) fields.Set
}

// kind is a Kind with its Go types and rules. The prototypes object and list are only copied. All objects of
// the kind have the prototype's TypeMeta, which is empty for Go types and full for unstructured objects.
type kind struct {
	Kind
	traits
	object apiObject
	list   runtime.Object
	// builtin is set for kinds of Kubernetes itself, and not for those of CRDs.
	builtin bool
	// types returns a converter that has the merge rules of the fields. It is a function because reading the
	// schema of the built-in kinds takes long.
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

// fieldsOf returns an object's fields for field selectors.
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

// bookmark returns an object that has only a version.
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

// withKind returns obj with its kind, which clients read and which stored objects of Go types lack. The
// result shares everything else with obj.
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

// copyOf returns a deep copy, which has the same Go type.
func copyOf(obj apiObject) apiObject { return obj.DeepCopyObject().(apiObject) }
