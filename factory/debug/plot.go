package debug

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/factory/internal/show"
)

// The size of a plot, in SVG units.
const (
	plotWidth  = 240
	plotHeight = 40
)

// spans are the possible lengths of the time axis of a plot.
var spans = []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, window}

// spanOf returns the time axis of all plots of a page: the shortest span that covers all moments.
func spanOf(r report) time.Duration {
	oldest := r.At
	for _, i := range r.Informers {
		if len(i.History) > 0 && i.History[0].At.Before(oldest) {
			oldest = i.History[0].At
		}
	}
	for _, span := range spans {
		if r.At.Sub(oldest) <= span {
			return span
		}
	}
	return window
}

// plot is a small chart of the last minutes.
type plot struct {
	Title, Now, Most string
	Line, Area       string // SVG paths
}

// curve is a quantity to plot. The vertical axis reaches at least to least, so that small values do not fill
// a plot.
type curve struct {
	title    string
	least    float64
	value    func(shownMoment) float64
	spell    func(float64) string
	measured bool // zero values only mean that nothing was measured
}

var curves = []curve{
	{"Events", 1, func(m shownMoment) float64 { return m.Rate }, rate, false},
	{"Lag", 1, func(m shownMoment) float64 { return m.Lag }, duration, false},
	{"Staleness", 60, func(m shownMoment) float64 { return m.Staleness }, duration, false},
	{"Objects", 1, func(m shownMoment) float64 { return float64(m.Objects) }, func(v float64) string { return show.Number(int64(v)) }, false},
	{"Memory", 1, func(m shownMoment) float64 { return float64(m.Bytes) }, func(v float64) string { return size(int64(v)) }, true},
}

// plots draws all curves of an informer.
func plots(history []shownMoment, to axis) []plot {
	var all []plot
	for _, c := range curves {
		all = append(all, c.draw(history, to))
	}
	return all
}

func (c curve) draw(history []shownMoment, to axis) plot {
	p := plot{Title: c.title, Now: "–"}
	most := 0.0
	for _, m := range history {
		most = max(most, c.value(m))
	}
	if len(history) == 0 || c.measured && most == 0 {
		return p
	}
	p.Now = c.spell(c.value(history[len(history)-1]))
	if most > 0 {
		p.Most = c.spell(most)
	}
	p.Line, p.Area = c.paths(history, to, max(most, c.least))
	return p
}

// gap is the longest time between two moments that a line connects.
const gap = 20 * time.Second

// paths returns a line through the moments and the area below it. Both have gaps where moments are missing.
func (c curve) paths(history []shownMoment, to axis, top float64) (line, area string) {
	var lines, areas strings.Builder
	begin := 0
	for n := range history {
		if n+1 < len(history) && history[n+1].At.Sub(history[n].At) <= gap {
			continue
		}
		stretch := c.stretch(history[begin:n+1], to, top)
		lines.WriteString("M" + stretch)
		fmt.Fprintf(&areas, "M%.1f %dL%sV%dZ", to.across(history[begin].At), plotHeight, stretch, plotHeight)
		begin = n + 1
	}
	return lines.String(), areas.String()
}

// stretch returns the points of moments without a gap.
func (c curve) stretch(moments []shownMoment, to axis, top float64) string {
	var points []string
	for _, m := range moments {
		// The margin of 1 keeps a line of width 1 within the plot at the top and the bottom.
		up := 1 + (plotHeight-2)*(1-min(1, c.value(m)/top))
		points = append(points, fmt.Sprintf("%.1f %.1f", to.across(m.At), up))
	}
	return strings.Join(points, "L")
}

// axis is the time axis of a plot; it ends now.
type axis struct {
	now  time.Time
	span time.Duration
}

// across returns the horizontal position of a time.
func (a axis) across(at time.Time) float64 {
	return plotWidth * max(0, 1-a.now.Sub(at).Seconds()/a.span.Seconds())
}
