package debug

import (
	"fmt"
	"strings"
	"time"
)

// The size of a plot, in units of its own.
const (
	plotWidth  = 240
	plotHeight = 40
)

// spans are the lengths of time that a plot may show.
var spans = []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, window}

// spanOf is what all plots of a page show: the shortest span that has room for all moments.
func spanOf(r Report) time.Duration {
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

// plot is one small chart of the last minutes.
type plot struct {
	Title, Now, Most string
	Line, Area       string // paths of SVG
}

// curve is what a plot shows of each moment. What is below least does not fill the plot,
// however quiet the rest is.
type curve struct {
	title    string
	least    float64
	value    func(Moment) float64
	spell    func(float64) string
	measured bool // nothing but zeros stands for nothing measured
}

var curves = []curve{
	{"Events", 1, func(m Moment) float64 { return m.Rate }, rate, false},
	{"Lag", 1, func(m Moment) float64 { return m.Lag }, duration, false},
	{"Staleness", 60, func(m Moment) float64 { return m.Staleness }, duration, false},
	{"Objects", 1, func(m Moment) float64 { return float64(m.Objects) }, func(v float64) string { return number(int64(v)) }, false},
	{"Memory", 1, func(m Moment) float64 { return float64(m.Bytes) }, func(v float64) string { return size(int64(v)) }, true},
}

// plots draws all curves of an informer.
func plots(history []Moment, to axis) []plot {
	var all []plot
	for _, c := range curves {
		all = append(all, c.draw(history, to))
	}
	return all
}

func (c curve) draw(history []Moment, to axis) plot {
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

// gap is how long may be between two moments that a line joins.
const gap = 20 * time.Second

// paths are a line through the moments and the area below it, both interrupted where
// nothing was measured.
func (c curve) paths(history []Moment, to axis, top float64) (line, area string) {
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

// stretch are the points of moments without a gap.
func (c curve) stretch(moments []Moment, to axis, top float64) string {
	var points []string
	for _, m := range moments {
		// A line of a unit's width at the top or bottom stays within the plot.
		up := 1 + (plotHeight-2)*(1-min(1, c.value(m)/top))
		points = append(points, fmt.Sprintf("%.1f %.1f", to.across(m.At), up))
	}
	return strings.Join(points, "L")
}

// axis is the time that a plot shows, up to now.
type axis struct {
	now  time.Time
	span time.Duration
}

// across is where a time stands in a plot.
func (a axis) across(at time.Time) float64 {
	return plotWidth * max(0, 1-a.now.Sub(at).Seconds()/a.span.Seconds())
}
