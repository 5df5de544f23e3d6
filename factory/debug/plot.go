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

// plot is one small chart of the last 15 minutes.
type plot struct {
	Title, Now, Most string
	Line, Area       string // paths of SVG
}

// curve is what a plot shows of each moment. What is below least does not fill the plot,
// however quiet the rest is.
type curve struct {
	title string
	least float64
	value func(Moment) float64
	spell func(float64) string
}

var curves = []curve{
	{"Events", 1, func(m Moment) float64 { return m.Rate }, rate},
	{"Lag", 1, func(m Moment) float64 { return m.Lag }, duration},
	{"Staleness", 60, func(m Moment) float64 { return m.Staleness }, duration},
	{"Objects", 1, func(m Moment) float64 { return float64(m.Objects) }, func(v float64) string { return number(int64(v)) }},
	{"Memory", 1, func(m Moment) float64 { return float64(m.Bytes) }, func(v float64) string { return size(int64(v)) }},
}

// plots draws all curves of an informer.
func plots(history []Moment, now time.Time) []plot {
	var all []plot
	for _, c := range curves {
		all = append(all, c.draw(history, now))
	}
	return all
}

func (c curve) draw(history []Moment, now time.Time) plot {
	p := plot{Title: c.title, Now: "–"}
	if len(history) == 0 {
		return p
	}
	most := 0.0
	for _, m := range history {
		most = max(most, c.value(m))
	}
	p.Now, p.Most = c.spell(c.value(history[len(history)-1])), c.spell(most)
	p.Line, p.Area = c.paths(history, now, max(most, c.least))
	return p
}

// gap is how long may be between two moments that a line joins.
const gap = 20 * time.Second

// paths are a line through the moments and the area below it, both interrupted where
// nothing was measured.
func (c curve) paths(history []Moment, now time.Time, top float64) (line, area string) {
	var lines, areas strings.Builder
	begin := 0
	for n := range history {
		if n+1 < len(history) && history[n+1].At.Sub(history[n].At) <= gap {
			continue
		}
		stretch := c.stretch(history[begin:n+1], now, top)
		lines.WriteString("M" + stretch)
		fmt.Fprintf(&areas, "M%.1f %dL%sV%dZ", across(history[begin].At, now), plotHeight, stretch, plotHeight)
		begin = n + 1
	}
	return lines.String(), areas.String()
}

// stretch are the points of moments without a gap.
func (c curve) stretch(moments []Moment, now time.Time, top float64) string {
	var points []string
	for _, m := range moments {
		// A line of a unit's width at the top or bottom stays within the plot.
		up := 1 + (plotHeight-2)*(1-min(1, c.value(m)/top))
		points = append(points, fmt.Sprintf("%.1f %.1f", across(m.At, now), up))
	}
	return strings.Join(points, "L")
}

// across is where a time stands in a plot.
func across(at, now time.Time) float64 {
	return plotWidth * max(0, 1-now.Sub(at).Seconds()/window.Seconds())
}
