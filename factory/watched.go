package factory

import (
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// InUse are the informers of a factory, of any of the three kinds, that somebody uses:
// what a probe, a collector of metrics or a page looks at. They are gone through anew in
// each loop. An informer that nobody uses, and that its factory keeps for who comes next,
// is not among them.
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

// Alone is one informer that belongs to no factory, as [InUse] tells of a factory's: the
// resource and the scope say what it is of, and may be empty. A typed informer is given as
// its Shared.
func Alone(resource schema.GroupVersionResource, scope Scope, i cache.SharedIndexInformer) iter.Seq[Held] {
	return func(yield func(Held) bool) {
		yield(Held{Resource: resource, Scope: scope.clone(), Pinned: true, Status: statusOf(i), Informer: i})
	}
}

// Name says what the informer is of, such as "pods in shop with app=web".
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

// String says what a scope restricts, such as "in shop with app=web", and nothing where that
// is nothing.
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

// Inspector returns what looks into the informer, and makes it measure from now on; nil for
// an informer of another module.
func (h Held) Inspector() *informer.Inspector {
	ours, ok := informer.SharedOf(h.Informer)
	if !ok {
		return nil
	}
	return ours.Inspector()
}
