package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// drawn are the rows of the chart, by their titles in the table.
var drawn = []struct{ row, title string }{
	{"sync of pods by WatchList", "sync of 20,000 pods"},
	{"sync of pods, tidemark holds them packed, 8 MiB of them decoded too", "the same, packed"},
	{"relist after a 410 by WatchList, 1 % changed", "relist, 1% changed"},
	{"the caches of kube-controller-manager", "kube-controller-manager"},
	{"sync of pods that share nothing", "pods without common values"},
}

// palette has the colors of a chart.
type palette struct{ name, text, axis, theirs, ours string }

// palettes are the colors of the two charts, for light and dark pages.
var palettes = []palette{
	{"light", "#1f2328", "#d1d9e0", "#8c959f", "#0969da"},
	{"dark", "#e6edf3", "#3d444d", "#768390", "#4493f8"},
}

// writeCharts draws the table of docs/performance.md. It writes performance-light.svg and
// performance-dark.svg to the same folder.
func writeCharts(file string) error {
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, p := range palettes {
		name := strings.TrimSuffix(file, filepath.Ext(file)) + "-" + p.name + ".svg"
		if err := os.WriteFile(name, []byte(chart(string(document), p)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// The dimensions of a chart in pixels.
const (
	chartWidth = 800
	chartTop   = 60
	rowHeight  = 40
	barHeight  = 13
	barWidth   = 190 // the length of the longest bar
)

// panel is a column of the table, with a place in the chart.
type panel struct {
	column, left int
	title        string
}

var panels = []panel{{1, 200, "CPU"}, {2, 510, "memory (heap)"}}

// chart draws two bars for each drawn row of a document: the CPU and the heap of both libraries.
func chart(document string, p palette) string {
	rows := rowsOf(document)
	height := chartTop + len(drawn)*rowHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", chartWidth, height, chartWidth, height)
	fmt.Fprintf(&b, "<title>CPU and memory of client-go and tidemark</title>\n<style>text { font: 13px system-ui, sans-serif; fill: %s } .theirs { fill: %s } .ours { fill: %s }</style>\n", p.text, p.theirs, p.ours)
	legend(&b, 0, "theirs", theirs)
	legend(&b, 90, "ours", ours)
	for _, panel := range panels {
		fmt.Fprintf(&b, `<text x="%d" y="44" font-weight="600">%s</text>`+"\n", panel.left, panel.title)
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="%s"/>`+"\n", panel.left, panel.left, chartTop-6, height, p.axis)
		panel.draw(&b, rows)
	}
	for n, d := range drawn {
		fmt.Fprintf(&b, `<text x="0" y="%d">%s</text>`+"\n", chartTop+n*rowHeight+18, html.EscapeString(d.title))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func legend(b *strings.Builder, x int, class, name string) {
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="4" width="12" height="12" rx="2"/><text x="%d" y="15">%s</text>`+"\n", class, x, x+18, name)
}

// draw adds the bars of a column, scaled to its largest figure.
func (p panel) draw(b *strings.Builder, rows map[string][]string) {
	longest := 0.0
	for _, d := range drawn {
		for _, figure := range p.figures(rows[d.row]) {
			longest = max(longest, amount(figure))
		}
	}
	for n, d := range drawn {
		y := chartTop + n*rowHeight
		for i, figure := range p.figures(rows[d.row]) {
			width := int(barWidth * amount(figure) / longest)
			fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="2"/>`, []string{"theirs", "ours"}[i], p.left, y, width, barHeight)
			fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", p.left+width+6, y+11, html.EscapeString(figure))
			y += barHeight + 2
		}
	}
}

// figures returns client-go's figure and tidemark's.
func (p panel) figures(cells []string) []string {
	if len(cells) <= p.column || cells[p.column] == nothing {
		return nil
	}
	return strings.Split(cells[p.column], ", ")[:2]
}

// rowsOf returns the cells of the tables' rows, by their titles.
func rowsOf(document string) map[string][]string {
	rows := map[string][]string{}
	for line := range strings.Lines(document) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) > 2 {
			rows[cells[0]] = cells
		}
	}
	return rows
}

// amount parses a formatted duration in seconds, or a formatted size in bytes.
func amount(figure string) float64 {
	number, unit, _ := strings.Cut(figure, " ")
	n, _ := strconv.ParseFloat(number, 64) // the report has formatted it
	return n * map[string]float64{"µs": 1e-6, "ms": 1e-3, "s": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
}
