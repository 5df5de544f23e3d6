package metrics

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// maxScopes is the highest number of scopes of a kind that have their own label. maxHandlers is that of
	// the handlers of an informer.
	maxScopes   = 16
	maxHandlers = 64
	// other is the label of all other scopes and handlers.
	other = "other"
)

// identity identifies the series of an informer.
type identity struct {
	resource schema.GroupVersionResource
	scope    string
}

// label returns a text as a label's value, which must be valid UTF-8. It is called before names are compared,
// because two series with the same labels would fail the whole scrape.
func label(text string) string { return strings.ToValidUTF8(text, "?") }

// aggregate holds the samples of all informers. Informers with scopes beyond maxScopes share the scope
// "other".
type aggregate struct {
	scopes  map[schema.GroupVersionResource]int
	samples map[identity]*samples
}

func newAggregate() *aggregate {
	return &aggregate{scopes: map[schema.GroupVersionResource]int{}, samples: map[identity]*samples{}}
}

// of returns the samples of an informer.
func (a *aggregate) of(id identity) *samples {
	id.scope = label(id.scope)
	if a.samples[id] == nil && a.scopes[id.resource] >= maxScopes {
		id.scope = other
	}
	if a.samples[id] == nil {
		a.scopes[id.resource]++
		a.samples[id] = newSamples(id)
	}
	return a.samples[id]
}
