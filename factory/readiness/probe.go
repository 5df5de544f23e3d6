package readiness

import (
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/factory"
)

// Options say when a probe fails.
type Options struct {
	// FailOn are the conditions that make the program not ready, beside [NotSynced].
	FailOn []Condition
	// StaleAfter is for how long nothing may be heard from the server before an informer
	// counts as [Stale]; zero for what its status says: 2 minutes where the server sends
	// bookmarks, or as long as a watch lasts.
	StaleAfter time.Duration
}

// Probe tells whether informers are ready. It is made by [New].
type Probe struct {
	options Options
	of      []iter.Seq[factory.Held]
}

var _ http.Handler = (*Probe)(nil)

// New returns a probe of some informers, such as those of [factory.InUse].
func New(o Options, of ...iter.Seq[factory.Held]) *Probe {
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
		for held := range informers {
			l := Line{Name: held.Name(), Ready: true, Objects: held.Status.Objects, Findings: Examine(held.Status, p.options.StaleAfter)}
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
