package debug

import (
	"crypto/sha256"
	_ "embed" // for the files in assets
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
)

var (
	//go:embed assets/page.html
	markup string
	//go:embed assets/page.css
	style string
	//go:embed assets/page.js
	script string
)

// policy allows a browser to run only the page's own style and script, identified by their
// hashes.
var policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	hashOf(style), hashOf(script))

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// content is the input of the template.
type content struct {
	report
	Single bool // the view of one informer
	Tally  []tally
}

// tally is the number of informers in a state.
type tally struct {
	State state
	Count int
}

// shown is one informer with the options of its view.
type shown struct {
	shownInformer
	Now    time.Time
	Single bool
	Span   time.Duration
}

// Plots returns the plots of the informer.
func (s shown) Plots() []plot { return plots(s.History, axis{s.Now, s.Span}) }

// Events returns the plot of the events.
func (s shown) Events() plot { return curves[0].draw(s.History, axis{s.Now, s.Span}) }

// Ago returns the age of a time.
func (s shown) Ago(then time.Time) string { return age(then, s.Now) }

// Lag returns the largest lag of all handlers.
func (s shown) Lag() (most float64) {
	for _, h := range s.Handlers {
		most = max(most, h.Lag)
	}
	return most
}

// Backlog returns the number of events waiting for all handlers together.
func (s shown) Backlog() (sum int) {
	for _, h := range s.Handlers {
		sum += h.Backlog
	}
	return sum
}

// handlerCall is a slow call of a handler.
type handlerCall struct {
	Handler string
	shownCall
}

// Slow returns the slow calls: first those that have not returned, then those of each handler. The overview
// shows only the first call of each handler.
func (s shown) Slow() []handlerCall {
	var present, past []handlerCall
	for _, h := range s.Handlers {
		for n, c := range h.Slowest {
			switch call := (handlerCall{h.Name, c}); {
			case n == 0 && h.Calling > 0:
				present = append(present, call)
			case n == 0 || s.Single:
				past = append(past, call)
			}
		}
	}
	return append(present, past...)
}

// All returns all informers for the template.
func (c content) All() []shown {
	var all []shown
	span := spanOf(c.report)
	for _, i := range c.Informers {
		all = append(all, shown{i, c.At, c.Single, span})
	}
	return all
}

// Span returns the time axis of the plots as text.
func (c content) Span() string {
	return strings.TrimPrefix(show.Many(int(spanOf(c.report).Minutes()), "minute"), "1 ")
}

// One returns the only informer in the view of a single informer.
func (c content) One() shown { return c.All()[0] }

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"css":      func() template.CSS { return template.CSS(style) }, // the style is embedded, and has no text of a request or a server
	"js":       func() template.JS { return template.JS(script) },
	"number":   show.Number[int],
	"number64": show.Number[uint64],
	"total":    show.Number[int64],
	"size":     size, "duration": duration, "rate": rate, "many": show.Many,
	"sum":  func(m shownMemory) int64 { return m.Objects + m.Engine },
	"utc":  func(t time.Time) string { return t.UTC().Format("15:04:05 UTC") },
	"full": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}).Parse(markup))

// render writes a report as a page.
func render(to io.Writer, r report, single bool) error {
	return page.Execute(to, content{r, single, tallies(r.Informers)})
}

// tallies counts the informers in each state, the most serious state first.
func tallies(informers []shownInformer) (all []tally) {
	for _, state := range states {
		n := 0
		for _, i := range informers {
			if i.State == state {
				n++
			}
		}
		if n > 0 {
			all = append(all, tally{state, n})
		}
	}
	return all
}
