package refs

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// ReferenceIndex is the name of the index that [ByReference] makes.
const ReferenceIndex = "references"

// ByReference returns an index of objects by what they refer to by name, see [Ref.String]: by the fields
// of types of k8s.io/api, see [In], and by what the functions of more return. These are for the fields
// of a custom resource, and for unstructured objects, of which nothing else is known. They run as an
// index function does, see [indexer.Index]: one that panics costs its object this index.
func ByReference[T any](more ...func(obj T) []Ref) indexer.Index[T] {
	return indexer.Index[T]{Name: ReferenceIndex, Append: func(values []string, obj T) []string {
		namespace := ""
		if m, err := meta.Accessor(obj); err == nil {
			namespace = m.GetNamespace()
		}
		each(namespace, obj, func(r Ref) { values = append(values, r.String()) })
		for _, f := range more {
			for _, r := range f(obj) {
				if r.Name != "" {
					values = append(values, r.String())
				}
			}
		}
		return values
	}}
}

// In returns the references in a value of any Go type, in no promised order: what the types of
// k8s.io/api in it refer to by name, wherever they are, but in no field named status. The value may be
// an object, or a part of one, such as &widget.Spec.Template.Spec; namespace is that of the object. What an
// interface holds is not looked at.
//
// The names of containers, ports, users and a pod's own volumes are no references. A LocalObjectReference
// is one only in the fields of k8s.io/api, since it does not say of which kind: what a custom resource
// means by one is for a function of its own to say.
//
// A SecretReference, or another one to a kind that has namespaces, that says no namespace is to an object in that of
// the object that refers. A PersistentVolume has none, and means the namespace of its claim: In says "".
func In(namespace string, v any) (all []Ref) {
	each(namespace, v, func(r Ref) { all = append(all, r) })
	return all
}
