package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// The columns of benchstat's table.
const (
	theirs = "client-go"
	ours   = "tidemark"
)

// nothing fills a cell without a figure.
const nothing = "–"

// column is a column of the table. It shows one figure of each row.
type column struct {
	title string
	unit  string // benchstat's
	spell func(float64) string
	share bool // the ratio is ours/client-go's; otherwise it is client-go's/ours
}

var (
	cpu        = &column{"CPU", "cpu-sec", report.Duration, false}
	cpuOfEvent = &column{"CPU per event", "cpu-sec/event", report.Duration, false}
	heap       = &column{"heap", "heap-B", report.Size, true}
	peak       = &column{"peak RSS", "peak-B", report.Size, true}
	wall       = &column{"wall", "sec/op", report.Duration, false}
	calls      = &column{"handler calls", "calls", report.Count, false}
	p50        = &column{"p50", "p50-sec", report.Duration, false}
	p99        = &column{"p99", "p99-sec", report.Duration, false}
	ownP50     = &column{"p50 since the bytes arrived", "own-p50-sec", report.Duration, false}
	ownP99     = &column{"p99 since the bytes arrived", "own-p99-sec", report.Duration, false}

	stateColumns  = []*column{cpu, heap, peak, wall, calls}
	updateColumns = []*column{cpuOfEvent, heap, peak, p50, p99, ownP50, ownP99}
)

// target is the minimum ratio in a column, or the maximum if the column is a share.
type target struct {
	of    *column
	value float64
}

// row is a benchmark.
type row struct {
	benchmark string
	title     string
	targets   []target
}

// tables returns the table of stateRows, and the table of updateRows.
func tables(m report.Medians) string {
	return table(m, stateRows, stateColumns) + table(m, updateRows, updateColumns) +
		"Figures are medians of the rounds. A ratio with an x says how many times less tidemark takes. A ratio of memory is tidemark's share of\nclient-go's. The targets are this project's own.\n"
}

func table(m report.Medians, rows []row, columns []*column) string {
	var b strings.Builder
	for _, r := range rows {
		if m[r.benchmark] == nil {
			continue
		}
		if b.Len() == 0 {
			head(&b, columns)
		}
		r.write(&b, m, columns)
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// write adds the row's figures, its targets, and whether they are met.
func (r row) write(b *strings.Builder, m report.Medians, columns []*column) {
	fmt.Fprintf(b, "| %s |", r.title)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c.cell(m, r))
	}
	fmt.Fprintf(b, " %s | %s |\n", r.wanted(), r.verdict(m))
}

func head(b *strings.Builder, columns []*column) {
	b.WriteString("| work; client-go, tidemark, ratio |")
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c.title)
	}
	b.WriteString(" target | met? |\n| --- |" + strings.Repeat(" --- |", len(columns)+2) + "\n")
}

func (c *column) cell(m report.Medians, r row) string {
	a, b, ok := c.figures(m, r)
	if !ok {
		return nothing
	}
	return c.spell(a) + ", " + c.spell(b) + ", " + c.spellRatio(c.ratio(a, b))
}

// figures returns client-go's figure and tidemark's.
func (c *column) figures(m report.Medians, r row) (a, b float64, ok bool) {
	a, compared := m.Of(cmp.Or(sameWork[r.benchmark], r.benchmark), c.unit, theirs)
	b, measured := m.Of(r.benchmark, c.unit, ours)
	return a, b, compared && measured
}

// ratio compares tidemark's figure b with client-go's figure a.
func (c *column) ratio(a, b float64) float64 {
	if c.share {
		return b / a
	}
	return a / b
}

func (c *column) spellRatio(ratio float64) string {
	if c.share {
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.2fx", ratio)
}

// wanted formats the targets of a row.
func (r row) wanted() string {
	var texts []string
	for _, t := range r.targets {
		sign := "≥"
		if t.of.share {
			sign = "≤"
		}
		texts = append(texts, t.of.title+" "+sign+" "+t.of.spellRatio(t.value))
	}
	return orNothing(strings.Join(texts, ", "))
}

// verdict says that a row meets its targets, or names the columns that miss them.
func (r row) verdict(m report.Medians) string {
	var missed []string
	for _, t := range r.targets {
		a, b, ok := t.of.figures(m, r)
		ratio := t.of.ratio(a, b)
		if !ok || t.of.share && ratio > t.value || !t.of.share && ratio < t.value {
			missed = append(missed, t.of.title)
		}
	}
	switch {
	case len(r.targets) == 0:
		return nothing
	case len(missed) == 0:
		return "yes"
	}
	return "missed: " + strings.Join(missed, ", ")
}

func orNothing(text string) string { return cmp.Or(text, nothing) }
