package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// The columns: client-go, and tidemark's two APIs.
const (
	clientgo    = "client-go"
	typed       = "typed"
	clientgoAPI = "clientgo-api"
)

// nothing fills a cell without a figure.
const nothing = "–"

// A row is one figure of a benchmark.
type row struct {
	benchmark string // without "Benchmark" and "/impl=..."
	title     string
	short     string // title in the chart; empty if the chart has no such row
	unit      unit
	target    target
}

// unit is benchstat's name of a unit, with the format of its figures.
type unit struct {
	name  string
	spell func(float64) string
}

var (
	wall        = unit{"sec/op", report.Duration}
	cpu         = unit{"cpu-sec/op", report.Duration}
	longest     = unit{"longest-sec/op", report.Duration}
	p99         = unit{"p99-sec/op", report.Duration}
	perObject   = unit{"B/object", report.Size}
	perEvent    = unit{"B/event", report.Size}
	perProgram  = unit{"B/program", report.Size}
	perInformer = unit{"B/informer", report.Size}
	goroutines  = unit{"goroutines", report.Count}
	peak        = unit{"peak/steady", report.Times}
)

// table returns the table, without the rows that have no figures.
func table(m report.Medians) string {
	var b strings.Builder
	line(&b, "work", "client-go", "tidemark (typed API)", "tidemark (client-go's API)", "ratio: typed; client-go's API",
		"allocations per operation: client-go; typed; client-go's API", "target", "met?")
	line(&b, "---", "--:", "--:", "--:", "--:", "---", "---", "---")
	for _, r := range rows {
		if m[r.benchmark] == nil {
			continue
		}
		line(&b, r.title, r.figure(m, clientgo), r.figure(m, typed), r.figure(m, clientgoAPI), r.ratio(m, typed)+"; "+r.ratio(m, clientgoAPI),
			r.allocations(m, clientgo)+"; "+r.allocations(m, typed)+"; "+r.allocations(m, clientgoAPI), r.target.text(r.unit.spell), r.met(m))
	}
	return b.String()
}

func orNothing(text string) string { return cmp.Or(text, nothing) }

func line(b *strings.Builder, cells ...string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

func (r row) figure(m report.Medians, impl string) string {
	if v, ok := m.Of(r.benchmark, r.unit.name, impl); ok {
		return r.unit.spell(v)
	}
	return nothing
}

// times returns the ratio of client-go's figure to ours.
func (r row) times(m report.Medians, ours string) (ratio float64, ok bool) {
	a, compared := m.Of(r.benchmark, r.unit.name, clientgo)
	b, measured := m.Of(r.benchmark, r.unit.name, ours)
	return a / b, compared && measured
}

func (r row) ratio(m report.Medians, ours string) string {
	if x, ok := r.times(m, ours); ok {
		return report.Times(x)
	}
	return nothing
}

func (r row) allocations(m report.Medians, impl string) string {
	n, ok := m.Of(r.benchmark, "allocs/op", impl)
	bytes, _ := m.Of(r.benchmark, "B/op", impl)
	switch {
	case !ok:
		return nothing
	case bytes < 0.5:
		return report.Count(n)
	}
	return fmt.Sprintf("%s (%s)", report.Count(n), report.Size(bytes))
}
