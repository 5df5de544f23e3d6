package main

import (
	"fmt"
	"strings"
	"time"
)

// column is one figure of a sample.
type column struct {
	title string
	of    func(sample) float64
	show  func(float64) string
}

var columns = []column{
	{"wall", func(s sample) float64 { return float64(s.Wall) }, duration},
	{"CPU", func(s sample) float64 { return float64(s.CPU) }, duration},
	{"peak RSS", func(s sample) float64 { return float64(s.Peak) }, size},
	{"heap", func(s sample) float64 { return float64(s.Heap) }, size},
	{"handler calls", func(s sample) float64 { return float64(s.Calls) }, func(v float64) string { return fmt.Sprint(int(v)) }},
	{"p50", func(s sample) float64 { return quantile(s.Latencies, 50) }, duration},
	{"p99", func(s sample) float64 { return quantile(s.Latencies, 99) }, duration},
	{"p50 since the bytes came", func(s sample) float64 { return quantile(s.Own, 50) }, duration},
	{"p99 since the bytes came", func(s sample) float64 { return quantile(s.Own, 99) }, duration},
}

// table has a row for each work: client-go, tidemark and the ratio in a cell. The
// ratio is the median of those of the rounds, since what slows one down in a
// round often slows down the other as well.
func table(results []result) string {
	var b strings.Builder
	b.WriteString("| work; client-go, tidemark, ratio |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.title)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(columns)) + "\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, c := range columns {
			theirs, ours := median(r.samples[0], c.of), median(r.samples[1], c.of)
			switch {
			case theirs == 0:
				b.WriteString(" – |")
			case ours == 0:
				fmt.Fprintf(&b, " %s, %s |", c.show(theirs), c.show(ours))
			default:
				fmt.Fprintf(&b, " %s, %s, %.2fx |", c.show(theirs), c.show(ours), ratio(r.samples, c.of))
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\nFigures are medians of the rounds; a ratio is the median of the rounds' ratios.\n")
	return b.String()
}

func ratio(samples [2][]sample, of func(sample) float64) float64 {
	ratios := make([]float64, len(samples[0]))
	for i := range ratios {
		ratios[i] = of(samples[0][i]) / of(samples[1][i])
	}
	return middle(ratios)
}

func quantile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[(len(sorted)-1)*percent/100])
}

func duration(v float64) string {
	d := time.Duration(v)
	if d > time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

func size(v float64) string { return fmt.Sprintf("%.0f MB", v/1e6) }
