package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// column is one figure of a sample.
type column struct {
	title      string
	of         func(sample) float64
	show       func(float64) string
	comparison *comparison
}

// comparison is how tidemark's figure is set against client-go's.
type comparison struct {
	ratio   func(theirs, ours float64) float64
	show    func(float64) string
	reaches func(ratio, target float64) bool
}

var (
	// less is how many times less tidemark takes.
	less = &comparison{
		ratio:   func(theirs, ours float64) float64 { return theirs / ours },
		show:    func(r float64) string { return fmt.Sprintf("%.2fx", r) },
		reaches: func(ratio, target float64) bool { return ratio >= target },
	}
	// share is how much of client-go's tidemark takes.
	share = &comparison{
		ratio:   func(theirs, ours float64) float64 { return ours / theirs },
		show:    func(r float64) string { return fmt.Sprintf("%.2f", r) },
		reaches: func(ratio, target float64) bool { return ratio <= target },
	}
)

var (
	cpu        = &column{"CPU", func(s sample) float64 { return float64(s.CPU) }, duration, less}
	heap       = &column{"heap", func(s sample) float64 { return float64(s.Heap) }, size, share}
	peakRSS    = &column{"peak RSS", func(s sample) float64 { return float64(s.Peak) }, size, share}
	cpuOfEvent = &column{"CPU an event", cpuByEvents, duration, less}
)

// stateColumns are for work that ends when all has been seen, updateColumns for
// that which goes on.
var (
	stateColumns = []*column{
		cpu, heap, peakRSS,
		{"wall", func(s sample) float64 { return float64(s.Wall) }, duration, less},
		{"handler calls", func(s sample) float64 { return float64(s.Calls) }, func(v float64) string { return fmt.Sprint(int(v)) }, less},
	}
	updateColumns = []*column{
		cpuOfEvent, heap, peakRSS,
		{"p50", func(s sample) float64 { return quantile(s.Latencies, 50) }, duration, less},
		{"p99", func(s sample) float64 { return quantile(s.Latencies, 99) }, duration, less},
		{"p50 since the bytes came", func(s sample) float64 { return quantile(s.Own, 50) }, duration, less},
		{"p99 since the bytes came", func(s sample) float64 { return quantile(s.Own, 99) }, duration, less},
	}
)

func cpuByEvents(s sample) float64 {
	if s.Events == 0 {
		return 0
	}
	return float64(s.CPU) / float64(s.Events)
}

// table has a row for each work: client-go, tidemark and the ratio in a cell. The
// ratio is the median of those of the rounds, since what slows one down in a
// round often slows down the other as well.
func table(results []result) string {
	var states, updates []result
	for _, r := range results {
		if r.samples[1][0].Events > 0 {
			updates = append(updates, r)
		} else {
			states = append(states, r)
		}
	}
	return rows(states, stateColumns) + rows(updates, updateColumns) + `Figures are medians of the rounds; a ratio is the median of the rounds' ratios. With an x it is how many times less
tidemark takes; of memory, the share of client-go's that it takes.
`
}

func rows(results []result, columns []*column) string {
	if len(results) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| work; client-go, tidemark, ratio |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.title)
	}
	b.WriteString(" at least | met? |\n| --- |" + strings.Repeat(" --- |", len(columns)+2) + "\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", r.cell(c))
		}
		fmt.Fprintf(&b, " %s | %s |\n", r.wanted(), r.verdict())
	}
	b.WriteString("\n")
	return b.String()
}

func (r result) cell(c *column) string {
	theirs, ours := median(r.samples[0], c.of), median(r.samples[1], c.of)
	switch {
	case theirs == 0:
		return nothing
	case ours == 0:
		return fmt.Sprintf("%s, %s", c.show(theirs), c.show(ours))
	}
	return fmt.Sprintf("%s, %s, %s", c.show(theirs), c.show(ours), c.comparison.show(ratio(r.samples, c)))
}

// ratio is the median of the rounds' ratios.
func ratio(samples [2][]sample, c *column) float64 {
	ratios := make([]float64, len(samples[0]))
	for i := range ratios {
		ratios[i] = c.comparison.ratio(c.of(samples[0][i]), c.of(samples[1][i]))
	}
	return middle(ratios)
}

// median returns the median of something of the samples.
func median(samples []sample, of func(sample) float64) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, of(s))
	}
	return middle(all)
}

func middle(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func quantile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[(len(sorted)-1)*percent/100])
}

func duration(v float64) string {
	d := time.Duration(v)
	switch {
	case d > time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d > time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

func size(v float64) string { return fmt.Sprintf("%.0f MB", v/1e6) }
