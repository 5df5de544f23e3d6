package main

import (
	"fmt"
	"strings"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// target is the figure that tidemark has to reach. The zero value means that there is no target.
type target struct {
	typed, clientgoAPI float64 // the minimum ratio of client-go's figure to this API's
	most               float64 // the largest figure
	// The fields below apply to the APIs with a minimum ratio, or to both if neither has one.
	allocs *float64 // the largest number of allocations per operation
	bytes  float64  // the largest share of client-go's allocated bytes
}

// words are the names of tidemark's APIs in the table.
var words = map[string]string{typed: "typed", clientgoAPI: "client-go's API"}

// text describes the target.
func (b target) text(spell func(float64) string) string {
	var asked []string
	if b.typed > 0 {
		asked = append(asked, words[typed]+" "+report.Times(b.typed))
	}
	if b.clientgoAPI > 0 {
		asked = append(asked, words[clientgoAPI]+" "+report.Times(b.clientgoAPI))
	}
	if b.most > 0 {
		asked = append(asked, "≤ "+spell(b.most))
	}
	if b.allocs != nil {
		asked = append(asked, "≤ "+report.Count(*b.allocs)+" allocations")
	}
	if b.bytes > 0 {
		asked = append(asked, fmt.Sprintf("≤ %.0f %% of the bytes", 100*b.bytes))
	}
	return orNothing(strings.Join(asked, "; "))
}

// met returns "yes" if the row reaches its target, or else the APIs that miss it.
func (r row) met(m report.Medians) string {
	verdict := ""
	var missed []string
	for _, ours := range []string{typed, clientgoAPI} {
		switch met, ok := r.metBy(m, ours); {
		case ok && !met:
			missed = append(missed, words[ours])
		case ok:
			verdict = "yes"
		}
	}
	if missed != nil {
		verdict = "missed: " + strings.Join(missed, ", ")
	}
	return orNothing(verdict)
}

// metBy reports whether an API meets the row's target. ok is false if there is no target or no figure.
func (r row) metBy(m report.Medians, ours string) (met, ok bool) {
	least := r.target.typed
	if ours == clientgoAPI {
		least = r.target.clientgoAPI
	}
	figure, measured := m.Of(r.benchmark, r.unit.name, ours)
	if !measured || least == 0 && r.target.typed+r.target.clientgoAPI > 0 {
		return false, false
	}
	met = true
	ask := func(enough bool) { met, ok = met && enough, true }
	if r.target.most > 0 {
		ask(figure <= r.target.most)
	}
	if ratio, compared := r.times(m, ours); compared && least > 0 {
		ask(ratio >= least)
	}
	if allocs, measured := m.Of(r.benchmark, "allocs/op", ours); measured && r.target.allocs != nil {
		ask(allocs <= *r.target.allocs)
	}
	bytes, measured := m.Of(r.benchmark, "B/op", ours)
	if theirs, compared := m.Of(r.benchmark, "B/op", clientgo); measured && compared && r.target.bytes > 0 {
		ask(bytes <= r.target.bytes*theirs)
	}
	return met, ok
}
