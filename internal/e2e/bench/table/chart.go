package main

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// The dimensions of the chart in pixels.
const (
	chartWidth = 760
	chartLeft  = 230 // where the bars begin
	chartRight = 90  // for the figure after the longest bar
	chartTop   = 62
	rowHeight  = 38
	barHeight  = 13
)

// ours are the columns that the chart compares with client-go, with their titles.
var ours = []struct{ name, title string }{{typed, "tidemark (typed API)"}, {clientgoAPI, "tidemark (client-go's API)"}}

// chart draws the ratios of client-go's figures to ours on a logarithmic scale, for rows with a short
// title. Its colors suit light and dark pages.
func chart(m report.Medians) string {
	var drawn []row
	most := 10.0
	for _, r := range rows {
		if r.short == "" || m[r.benchmark] == nil {
			continue
		}
		drawn = append(drawn, r)
		for _, api := range ours {
			if x, ok := r.times(m, api.name); ok {
				most = max(most, x)
			}
		}
	}
	decades := int(math.Ceil(math.Log10(most)))
	c := canvas{scale: (chartWidth - chartLeft - chartRight) / float64(decades), height: chartTop + len(drawn)*rowHeight}
	c.head()
	for d := range decades + 1 {
		c.decade(d)
	}
	for n, r := range drawn {
		c.row(chartTop+n*rowHeight, r, m)
	}
	c.WriteString("</svg>\n")
	return c.String()
}

// canvas is an unfinished chart.
type canvas struct {
	strings.Builder
	scale  float64 // the width of a decade
	height int
}

const chartStyle = `<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 }
  .axis { fill: #656d76; text-anchor: middle }
  line { stroke: #8c959f; stroke-opacity: .4 }
  .typed { fill: #0969da }
  .clientgo-api { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .axis { fill: #9198a1 }
    .typed { fill: #4493f8 }
    .clientgo-api { fill: #ab7df8 }
  }
</style>
`

func (c *canvas) head() {
	fmt.Fprintf(&c.Builder, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		chartWidth, c.height, chartWidth, c.height)
	c.WriteString("<title>How many times client-go's cost is tidemark's</title>\n" + chartStyle)
	c.text(0, 16, "title", "How many times client-go's cost is tidemark's (more is better)")
	for n, api := range ours {
		x := chartLeft + n*160
		c.bar(x, 24, 12, api.name)
		c.text(x+18, 35, "", api.title)
	}
}

// decade draws a line of the scale.
func (c *canvas) decade(d int) {
	x := chartLeft + float64(d)*c.scale
	fmt.Fprintf(&c.Builder, `<line x1="%.0f" x2="%.0f" y1="%d" y2="%d"/>`+"\n", x, x, chartTop-4, c.height)
	c.text(int(x), chartTop-8, "axis", report.Times(math.Pow10(d)))
}

func (c *canvas) row(y int, r row, m report.Medians) {
	c.text(0, y+barHeight+6, "", r.short)
	y += 4
	for _, api := range ours {
		x, ok := r.times(m, api.name)
		if !ok {
			continue
		}
		// A figure that is not better than client-go's has no bar.
		width := max(0, c.scale*math.Log10(x))
		c.bar(chartLeft, y, int(width), api.name)
		c.text(chartLeft+int(width)+6, y+barHeight-2, "", report.Times(x))
		y += barHeight + 2
	}
}

func (c *canvas) bar(x, y, width int, class string) {
	fmt.Fprintf(&c.Builder, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="2"/>`+"\n", class, x, y, width, barHeight)
}

func (c *canvas) text(x, y int, class, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(&c.Builder, `<text x="%d" y="%d"%s>%s</text>`+"\n", x, y, class, html.EscapeString(text))
}
