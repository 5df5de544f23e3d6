package factory

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// Held describes one informer of a factory at one moment.
type Held struct {
	Type     reflect.Type
	Resource schema.GroupVersionResource // empty if the factory does not know the type's resource
	Scope    Scope                       // the zero Scope for the factory's own informer of the kind
	// Pinned reports whether For, ForResource or an accessor has returned the informer. The factory keeps a
	// pinned informer even after it has stopped.
	Pinned bool
	Users  int // the number of leases on it
	// Status is the status of the informer and of its handlers. For an informer of another module, only
	// Synced and Stopped are set.
	Status   informer.Status
	Informer cache.SharedIndexInformer
}

// Informers returns the informers that the factory has when the loop starts, by resource, type and scope. The
// loop's body may call the factory.
func (c *common[K]) Informers() iter.Seq[Held] {
	return func(yield func(Held) bool) {
		for _, h := range c.held() {
			h.Status = statusOf(h.Informer)
			if !yield(h) {
				return
			}
		}
	}
}

// held returns all informers, without their status.
func (c *common[K]) held() []Held {
	c.mu.Lock()
	defer c.mu.Unlock()

	var all []Held
	for _, e := range c.entries {
		all = append(all, Held{
			Type: e.kind.object, Resource: e.kind.resource, Scope: e.scope.clone(),
			Pinned: e.requested, Users: e.users, Informer: e.shared,
		})
	}
	slices.SortFunc(all, Held.compare)
	return all
}

func (h Held) compare(other Held) int {
	return cmp.Or(
		cmp.Compare(h.Resource.Group, other.Resource.Group),
		cmp.Compare(h.Resource.Version, other.Resource.Version),
		cmp.Compare(h.Resource.Resource, other.Resource.Resource),
		compareTypes(h.Type, other.Type),
		slices.Compare(h.Scope.Namespaces, other.Scope.Namespaces),
		cmp.Compare(h.Scope.Labels, other.Scope.Labels),
		cmp.Compare(h.Scope.Fields, other.Scope.Fields),
	)
}

// compareTypes compares the names of two types, which are mostly the same type.
func compareTypes(a, b reflect.Type) int {
	if a == b {
		return 0
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) // a type is nil if InformerFor was called with nil
}

// statusOf returns the status of an informer of this module, or of another one.
func statusOf(i cache.SharedIndexInformer) informer.Status {
	if ours, ok := informer.SharedOf(i); ok {
		return ours.Status()
	}
	return informer.Status{Synced: i.HasSynced(), Stopped: i.IsStopped()}
}

// Alone returns a single informer without a factory, in the form that Informers returns. resource and scope
// describe the informer, and may be empty. For a typed informer, pass its Shared.
func Alone(resource schema.GroupVersionResource, scope Scope, i cache.SharedIndexInformer) iter.Seq[Held] {
	return func(yield func(Held) bool) {
		yield(Held{Resource: resource, Scope: scope.clone(), Pinned: true, Status: statusOf(i), Informer: i})
	}
}

// Name describes the objects of the informer, such as "pods in shop with app=web".
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

// String describes a scope, such as "in shop with app=web". It is empty for the zero Scope.
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

// Inspector returns the inspector of the informer, which starts measuring with this call, or nil for an
// informer of another module.
func (h Held) Inspector() *informer.Inspector {
	ours, ok := informer.SharedOf(h.Informer)
	if !ok {
		return nil
	}
	return ours.Inspector()
}
