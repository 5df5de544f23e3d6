package main

import (
	"fmt"
	"strings"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// shardsPlace is the place of the table of replicas.
var shardsPlace = report.Place{Name: "e2e-shards", Command: place.Command}

// shardRow is a benchmark of one of several replicas that share the pods. It is compared with the
// benchmark that reads everything from the same server.
type shardRow struct {
	benchmark, title string
	replicas         float64
	alone            string  // the benchmark of a replica that reads everything
	filters          bool    // the server sends only the share
	cpu              float64 // the most CPU, relative to a replica that reads everything
}

const alone, aloneUnfiltered = "Shards/typed-1", "ShardsUnfiltered/typed-1"

var shardRows = []shardRow{
	{"Shards/typed-1", "all pods", 1, alone, true, 0},
	{"Shards/typed-2", "one of 2 replicas, the server filters", 2, alone, true, 1. / 2},
	{"Shards/typed-4", "one of 4 replicas, the server filters", 4, alone, true, 1. / 4},
	{"ShardsUnfiltered/typed-2", "one of 2 replicas, it does not", 2, aloneUnfiltered, false, 1./2 + 0.4},
	{"ShardsUnfiltered/typed-4", "one of 4 replicas, it does not", 4, aloneUnfiltered, false, 1./4 + 0.4},
	{"Shards/dynamic-1", "all pods, dynamic", 1, "Shards/dynamic-1", true, 0},
	{"Shards/dynamic-2", "one of 2, dynamic, the server filters", 2, "Shards/dynamic-1", true, 1.3 / 2},
	{"Shards/dynamic-4", "one of 4, dynamic, the server filters", 4, "Shards/dynamic-1", true, 1.3 / 4},
	{"ShardsUnfiltered/dynamic-2", "one of 2, dynamic, it does not", 2, "ShardsUnfiltered/dynamic-1", false, 1./2 + 0.4},
	{"ShardsUnfiltered/dynamic-4", "one of 4, dynamic, it does not", 4, "ShardsUnfiltered/dynamic-1", false, 1./4 + 0.4},
}

// writeShards writes the table of replicas to its place in a file.
func writeShards(file, _ string, m report.Medians) error {
	return shardsPlace.Write(file, shardTable(m))
}

// shardTable returns the table of the measured replicas.
func shardTable(m report.Medians) string {
	var b strings.Builder
	b.WriteString("| a process with | heap | CPU of the sync | received | others' dropped | target | met? |\n| --- |" + strings.Repeat(" --- |", 6) + "\n")
	for _, r := range shardRows {
		if m[r.benchmark] != nil {
			r.write(&b, m)
		}
	}
	return b.String()
}

// bound is the maximum of a figure of a replica.
type bound struct {
	title, unit string
	most        float64 // zero for no maximum
	spell       func(float64) string
}

const (
	receivedUnit = "received-B"
	foreignUnit  = "foreign"
)

// bounds returns the bounds of a row, in the order of the columns.
func (r shardRow) bounds(m report.Medians) []bound {
	whole := func(unit string) float64 {
		figure, _ := m.Of(r.alone, unit, ours)
		return figure
	}
	if r.replicas == 1 {
		return []bound{{"heap", heap.unit, 0, report.Size}, {"CPU", cpu.unit, 0, report.Duration}, {"received", receivedUnit, 0, report.Size}}
	}
	received := 0.
	if r.filters {
		received = 1.1*whole(receivedUnit)/r.replicas + 1e6
	}
	return []bound{
		{"heap", heap.unit, whole(heap.unit)/r.replicas + 15e6, report.Size},
		{"CPU", cpu.unit, r.cpu * whole(cpu.unit), report.Duration},
		{"received", receivedUnit, received, report.Size},
	}
}

// write adds the figures of the row, the bounds, and whether they are met.
func (r shardRow) write(b *strings.Builder, m report.Medians) {
	var targets, missed []string
	fmt.Fprintf(b, "| %s |", r.title)
	for _, bound := range r.bounds(m) {
		figure, ok := m.Of(r.benchmark, bound.unit, ours)
		fmt.Fprintf(b, " %s |", bound.spell(figure))
		if bound.most == 0 {
			continue
		}
		targets = append(targets, bound.title+" ≤ "+bound.spell(bound.most))
		if !ok || figure > bound.most {
			missed = append(missed, bound.title)
		}
	}
	foreign, ok := m.Of(r.benchmark, foreignUnit, ours)
	if r.replicas > 1 && !r.filters {
		every, _ := m.Of(r.alone, calls.unit, ours)
		own, _ := m.Of(r.benchmark, calls.unit, ours)
		targets = append(targets, "dropped all of "+report.Count(every-own))
		if !ok || foreign != every-own {
			missed = append(missed, "dropped")
		}
	}
	verdict := "yes"
	switch {
	case len(targets) == 0:
		verdict = nothing
	case len(missed) > 0:
		verdict = "missed: " + strings.Join(missed, ", ")
	}
	fmt.Fprintf(b, " %s | %s | %s |\n", report.Count(foreign), orNothing(strings.Join(targets, ", ")), verdict)
}
