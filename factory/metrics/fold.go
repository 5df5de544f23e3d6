package metrics

import "k8s.io/apimachinery/pkg/runtime/schema"

const (
	// maxScopes is how many scopes of a kind have labels of their own, and maxHandlers how many
	// handlers of an informer.
	maxScopes   = 16
	maxHandlers = 64
	// other is the label of those that come later.
	other = "other"
)

// identity is what tells the series of two informers apart.
type identity struct {
	resource schema.GroupVersionResource
	scope    string
}

// fold puts the figures of informers together that have the same identity, or whose scope is
// one too many.
type fold struct {
	scopes  map[schema.GroupVersionResource]int
	figures map[identity]*figures
	order   []identity
}

func newFold() *fold {
	return &fold{scopes: map[schema.GroupVersionResource]int{}, figures: map[identity]*figures{}}
}

// add adds the figures of an informer.
func (f *fold) add(id identity, more figures) {
	if f.figures[id] == nil && f.scopes[id.resource] >= maxScopes {
		id.scope = other
	}
	known := f.figures[id]
	if known == nil {
		f.scopes[id.resource]++
		f.order = append(f.order, id)
		f.figures[id] = &more
		return
	}
	known.add(more)
}
