package refs

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// OwnerIndex is the name of the index that [ByOwner] makes.
const OwnerIndex = "metadata.ownerReferences.uid"

// ByOwner returns an index of objects by the UIDs of all their owners, controllers or not. It works
// for all objects with metadata: typed, unstructured and metadata-only. An object without metadata
// has no value.
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

// OwnedBy returns the query for the objects that an object owns, by an index of [ByOwner]. It
// compares only UIDs. So it does not select what an earlier object of the same name owned, and an
// object without a UID owns nothing. Use metav1.IsControlledBy to find out which of the objects it
// controls.
func OwnedBy(owner metav1.Object) indexer.Query {
	return indexer.Query{Fields: map[string]string{OwnerIndex: string(owner.GetUID())}}
}

// ControllerOf returns the controller of an object, from a store of the controller's kind. It
// returns false if the object has no controller, if the store does not have the controller, or if
// the UID differs. Any goroutine may call it. It takes no lock.
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
