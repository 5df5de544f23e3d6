package metrics

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// maxScopes is the number of scopes of a kind with labels of their own, maxHandlers the number
	// of handlers of an informer.
	maxScopes   = 16
	maxHandlers = 64
	// other is the label of further scopes and handlers.
	other = "other"
)

// identity identifies the series of an informer.
type identity struct {
	resource schema.GroupVersionResource
	scope    string
}

// label returns a text as the value of a label, which must be valid UTF-8. It is called before names
// are compared: two series of the same labels would fail the whole scrape.
func label(text string) string { return strings.ToValidUTF8(text, "?") }

// aggregate merges the figures of informers that have the same identity. Informers of scopes
// beyond maxScopes share the scope "other".
type aggregate struct {
	scopes  map[schema.GroupVersionResource]int
	figures map[identity]*figures
	order   []identity
}

func newAggregate() *aggregate {
	return &aggregate{scopes: map[schema.GroupVersionResource]int{}, figures: map[identity]*figures{}}
}

// add adds the figures of an informer.
func (a *aggregate) add(id identity, more figures) {
	id.scope = label(id.scope)
	if a.figures[id] == nil && a.scopes[id.resource] >= maxScopes {
		id.scope = other
	}
	known := a.figures[id]
	if known == nil {
		a.scopes[id.resource]++
		a.order = append(a.order, id)
		a.figures[id] = &more
		return
	}
	known.add(more)
}
