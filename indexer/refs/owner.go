package refs

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// OwnerIndex is the name of the index that [ByOwner] makes.
const OwnerIndex = "metadata.ownerReferences.uid"

// ByOwner returns an index of objects by the UIDs of all their owners, whether these are their
// controllers or not. It works for all objects with metadata: typed, unstructured and metadata-only
// ones. An object without metadata is under no value.
func ByOwner[T any]() indexer.Index[T] {
	return indexer.Index[T]{Name: OwnerIndex, Append: func(values []string, obj T) []string {
		if m, err := meta.Accessor(obj); err == nil {
			for _, owner := range m.GetOwnerReferences() {
				if owner.UID != "" {
					values = append(values, string(owner.UID))
				}
			}
		}
		return values
	}}
}

// OwnedBy returns the query for the objects that an object owns, by an index of [ByOwner]. An owner is
// known by its UID alone: what an earlier object of its name owned is not selected, and without a UID
// it owns nothing. metav1.IsControlledBy tells which of the objects it controls.
func OwnedBy(owner metav1.Object) indexer.Query {
	return indexer.Query{Fields: map[string]string{OwnerIndex: string(owner.GetUID())}}
}

// ControllerOf returns the object that controls another, from a store of the controller's kind. It
// returns false if the object has no controller, if the store lacks it, or if the store has another
// object of its name, with another UID. Any goroutine may call it; it takes no lock.
func ControllerOf[T any](x *indexer.Indexer[T], obj metav1.Object) (controller T, ok bool) {
	owner := metav1.GetControllerOfNoCopy(obj)
	if owner == nil {
		return controller, false
	}
	for _, namespace := range []string{obj.GetNamespace(), ""} { // a cluster-scoped object may own others
		found, ok := x.Get(indexer.Key{Namespace: namespace, Name: owner.Name})
		if !ok {
			continue
		}
		if m, err := meta.Accessor(found); err == nil && m.GetUID() == owner.UID {
			return found, true
		}
	}
	return controller, false
}
