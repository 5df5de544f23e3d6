package readiness

import (
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/internal/show"
)

// Options decide when a probe fails.
type Options struct {
	// FailOn are the conditions that fail the probe in addition to [NotSynced].
	FailOn []Condition
	// StaleAfter is the time without any message from the server after which an informer is [Stale]. If it is
	// zero, the informer's status decides: after 2 minutes if the server sends bookmarks, and after the
	// duration of a watch otherwise.
	StaleAfter time.Duration
	// MaxBacklog is the number of waiting events above which a handler is [Lagging]; zero means 10,000.
	MaxBacklog int
}

// Probe reports whether informers are ready. Use [New] to make one.
type Probe struct {
	options   Options
	informers []iter.Seq[factory.Held]
}

var _ http.Handler = (*Probe)(nil)

// New returns a probe of informers, such as those that a factory's Informers returns.
func New(o Options, informers ...iter.Seq[factory.Held]) *Probe {
	return &Probe{options: o, informers: informers}
}

// line is the result of a probe for one informer.
type line struct {
	name     string
	objects  int
	findings []Finding
}

// lines examines all informers.
func (p *Probe) lines() (all []line) {
	for _, informers := range p.informers {
		for held := range informers {
			held = show.WithoutNames(held)
			all = append(all, line{oneLine(held.Name()), held.Status.Objects, Examine(held.Status, p.options)})
		}
	}
	return all
}

func (p *Probe) fails(f Finding) bool {
	return f.Condition == NotSynced || slices.Contains(p.options.FailOn, f.Condition)
}

// Check returns nil if the program is ready, and an error with all reasons otherwise. It ignores the request.
// It is a healthz.Checker of controller-runtime.
func (p *Probe) Check(*http.Request) error {
	var why []string
	for _, l := range p.lines() {
		for _, f := range l.findings {
			if p.fails(f) {
				why = append(why, f.text(l))
			}
		}
	}
	if why == nil {
		return nil
	}
	return fmt.Errorf("the informers are not ready: %s", strings.Join(why, "; "))
}

// text returns the finding as a line of text.
func (f Finding) text(l line) string { return fmt.Sprintf("%s %s: %s", l.name, f.Condition, f.Why) }
