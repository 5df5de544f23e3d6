package refs

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// ReferenceIndex is the name of the index that [ByReference] makes.
const ReferenceIndex = "references"

// ByReference returns an index of objects by the objects that they name, see [Ref.String]. It reads
// the fields of types of k8s.io/api, see [In], and calls the functions in more. Pass functions for
// the fields of custom resources and for unstructured objects, which have no known fields. The
// rules for index functions apply, see [indexer.Index]: if a function panics, the index leaves the
// object out.
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

// In returns the references in a value of any Go type, in no particular order. It finds the objects
// that types of k8s.io/api name, wherever these types are, except in fields named status and in
// interfaces. The value may be an object or a part of an object, such as
// &widget.Spec.Template.Spec. namespace is that of the object.
//
// The names of containers, ports, users and a pod's own volumes do not count as references. A
// LocalObjectReference counts only in the fields of k8s.io/api, because it does not state a kind.
// For a custom resource's, write a function.
//
// If a reference to a namespaced kind, such as a SecretReference, states no namespace, In uses the
// namespace argument. A PersistentVolume has no namespace and means that of its claim, so In
// returns "".
func In(namespace string, v any) (all []Ref) {
	each(namespace, v, func(r Ref) { all = append(all, r) })
	return all
}
