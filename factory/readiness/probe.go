package readiness

import (
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
)

// staleAfter is twice the minute after which an API server sends a bookmark.
const staleAfter = 2 * time.Minute

// Options say when a probe fails.
type Options struct {
	// FailOn are the conditions that make the program not ready, beside [NotSynced].
	FailOn []Condition
	// StaleAfter is for how long nothing may be heard from the server before an informer
	// counts as [Stale]; zero for 2 minutes.
	StaleAfter time.Duration
}

// Informers are the informers that a probe asks about, by name. They are gone through
// at each request.
type Informers iter.Seq2[string, informer.Status]

// Factory are the informers that a factory has at the time of a request, of all three kinds
// of factories: those that somebody uses.
func Factory(f interface{ Informers() iter.Seq[factory.Held] }) Informers {
	return func(yield func(string, informer.Status) bool) {
		for held := range f.Informers() {
			used := held.Pinned || held.Users > 0
			if used && !yield(nameOf(held), held.Status) {
				return
			}
		}
	}
}

// One is a single informer, of no factory.
func One(name string, i interface{ Status() informer.Status }) Informers {
	return func(yield func(string, informer.Status) bool) { yield(name, i.Status()) }
}

// nameOf names an informer by its resource and what it is of that.
func nameOf(h factory.Held) string {
	name := h.Resource.GroupResource().String()
	if h.Resource.Empty() && h.Type != nil {
		name = h.Type.String()
	}
	if len(h.Scope.Namespaces) > 0 {
		name += " in " + strings.Join(h.Scope.Namespaces, ",")
	}
	for _, selector := range []string{h.Scope.Labels, h.Scope.Fields} {
		if selector != "" {
			name += " with " + selector
		}
	}
	return name
}

// Probe tells whether informers are ready. It is made by [New].
type Probe struct {
	options Options
	of      []Informers
}

var _ http.Handler = (*Probe)(nil)

// New returns a probe of some informers.
func New(o Options, of ...Informers) *Probe {
	if o.StaleAfter == 0 {
		o.StaleAfter = staleAfter
	}
	return &Probe{options: o, of: of}
}

// Report is what a probe has found.
type Report struct {
	Ready     bool   `json:"ready"`
	Informers []Line `json:"informers"`
}

// Line is what a probe has found of one informer.
type Line struct {
	Name     string    `json:"name"`
	Ready    bool      `json:"ready"`
	Objects  int       `json:"objects"`
	Findings []Finding `json:"findings,omitempty"`
}

// Report looks at all informers.
func (p *Probe) Report() Report {
	r := Report{Ready: true}
	for _, informers := range p.of {
		for name, status := range informers {
			l := Line{Name: name, Ready: true, Objects: status.Objects, Findings: examine(status, p.options.StaleAfter)}
			l.Ready = !slices.ContainsFunc(l.Findings, p.fails)
			r.Ready = r.Ready && l.Ready
			r.Informers = append(r.Informers, l)
		}
	}
	return r
}

func (p *Probe) fails(f Finding) bool {
	return f.Condition == NotSynced || slices.Contains(p.options.FailOn, f.Condition)
}

// Check returns nil where the program is ready, and [ErrNotReady] otherwise. It is a
// healthz.Checker of controller-runtime, and takes no notice of the request.
func (p *Probe) Check(*http.Request) error {
	var why []string
	for _, l := range p.Report().Informers {
		for _, f := range l.Findings {
			if p.fails(f) {
				why = append(why, f.of(l))
			}
		}
	}
	if why == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNotReady, strings.Join(why, "; "))
}

// of is the finding as a line of text.
func (f Finding) of(l Line) string { return fmt.Sprintf("%s %s: %s", l.Name, f.Condition, f.Why) }
