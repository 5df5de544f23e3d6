package factory

import (
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// InUse returns the informers of a factory, of any of the three kinds, that are pinned or have
// users. Probes, metrics collectors and debug pages take it as their input. Each loop reads the
// factory anew. An informer that is kept only in case somebody acquires it again is left out.
func InUse(f interface{ Informers() iter.Seq[Held] }) iter.Seq[Held] {
	return func(yield func(Held) bool) {
		for held := range f.Informers() {
			used := held.Pinned || held.Users > 0
			if used && !yield(held) {
				return
			}
		}
	}
}

// Alone returns a single informer that belongs to no factory, in the form that [InUse] returns.
// The resource and the scope describe the informer, and may be empty. For a typed informer, pass
// its Shared.
func Alone(resource schema.GroupVersionResource, scope Scope, i cache.SharedIndexInformer) iter.Seq[Held] {
	return func(yield func(Held) bool) {
		yield(Held{Resource: resource, Scope: scope.clone(), Pinned: true, Status: statusOf(i), Informer: i})
	}
}

// Name describes the informer's objects, such as "pods in shop with app=web".
func (h Held) Name() string {
	name := h.resourceName()
	if scope := h.Scope.String(); scope != "" {
		name += " " + scope
	}
	return name
}

func (h Held) resourceName() string {
	switch {
	case !h.Resource.Empty():
		return h.Resource.GroupResource().String()
	case h.Type != nil:
		return h.Type.String()
	default:
		return h.Status.Name
	}
}

// String describes the restrictions of a scope, such as "in shop with app=web". It is empty if
// there are none.
func (s Scope) String() string {
	var parts []string
	if len(s.Namespaces) > 0 {
		parts = append(parts, "in "+strings.Join(s.Namespaces, ","))
	}
	for _, selector := range []string{s.Labels, s.Fields} {
		if selector != "" {
			parts = append(parts, "with "+selector)
		}
	}
	return strings.Join(parts, " ")
}

// Inspector returns the inspector of the informer, which starts measuring with this call. It
// returns nil for an informer of another module.
func (h Held) Inspector() *informer.Inspector {
	ours, ok := informer.SharedOf(h.Informer)
	if !ok {
		return nil
	}
	return ours.Inspector()
}
