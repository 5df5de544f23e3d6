package main

import (
	"fmt"
	"strings"
)

// nothing stands in a cell that has no figure.
const nothing = "–"

// table is the medians, one work a row.
func table(results []result) string {
	var b strings.Builder
	row(&b, "work", "client-go", "tidemark (native)", "tidemark (client-go face)", "ratio: native; face",
		"allocations an operation: client-go; native; face", "bar", "met?")
	row(&b, "---", "--:", "--:", "--:", "--:", "---", "---", "---")
	for _, r := range results {
		row(&b, r.title, r.shown(clientgo), r.shown(native), r.shown(face), r.ratio(native)+"; "+r.ratio(face),
			r.allocated(clientgo)+"; "+r.allocated(native)+"; "+r.allocated(face),
			r.bar.text(r.unit.show), r.bar.met(r))
	}
	return b.String()
}

func (r result) shown(i implementation) string {
	if s, ok := r.medians[i]; ok {
		return r.unit.show(s.value)
	}
	return nothing
}

// ratio is how many times ours the value of client-go is.
func (r result) ratio(ours implementation) string {
	if x, ok := r.compared(ours); ok {
		return times(x)
	}
	return nothing
}

func (r result) compared(ours implementation) (ratio float64, ok bool) {
	a, compared := r.medians[clientgo]
	b, measured := r.medians[ours]
	return a.value / b.value, compared && measured
}

func (r result) allocated(i implementation) string {
	s, ok := r.medians[i]
	switch {
	case !ok || !s.timed():
		return nothing
	case s.bytes < 0.5:
		return count(s.mallocs)
	}
	return fmt.Sprintf("%s (%s)", count(s.mallocs), size(s.bytes))
}

// timed tells whether the sample comes from a section, and is no mere count.
func (s sample) timed() bool { return s.wall > 0 }

// details is the spread, and what else was measured. The ratio of the CPU times
// is the one to look at where others use the machine as well.
func details(results []result) string {
	var b strings.Builder
	row(&b, "details", "implementation", "median", "least", "most", "operation", "wall", "CPU", "ratio of CPU", "also")
	row(&b, "---", "---", "--:", "--:", "--:", "---", "--:", "--:", "--:", "---")
	for _, r := range results {
		for i := range implementations {
			s, ok := r.medians[i]
			if !ok {
				continue
			}
			values := sorted(r.samples[i], value)
			wall, cpu, ratio := nothing, nothing, nothing
			if s.timed() {
				wall, cpu = duration(s.wall), duration(s.cpu)
			}
			if theirs, ok := r.medians[clientgo]; ok && s.timed() && i.tidemark() {
				ratio = times(theirs.cpu / s.cpu)
			}
			row(&b, r.name, i.String(), r.unit.show(s.value), r.unit.show(values[0]), r.unit.show(values[len(values)-1]), r.op, wall, cpu, ratio, s.note)
		}
	}
	return b.String()
}

func row(b *strings.Builder, cells ...string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
