package main

import (
	"fmt"
	"strings"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// bar is what tidemark has to reach. The zero value asks for nothing.
type bar struct {
	native, face float64 // how many times ours client-go's figure must be, at least
	most         float64 // the largest figure of ours
	// The others are asked of an API of which a ratio is asked, or of both if none is.
	allocs *float64 // the largest number of allocations an operation
	bytes  float64  // the largest share of client-go's allocated bytes
}

// text says what is asked.
func (b bar) text(spell func(float64) string) string {
	var asked []string
	if b.native > 0 {
		asked = append(asked, "native "+report.Times(b.native))
	}
	if b.face > 0 {
		asked = append(asked, "face "+report.Times(b.face))
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

// met says whether the row reaches its bar, or which API does not.
func (r row) met(m report.Medians) string {
	verdict := ""
	var missed []string
	for _, ours := range []string{native, face} {
		switch met, ok := r.metBy(m, ours); {
		case ok && !met:
			missed = append(missed, ours)
		case ok:
			verdict = "yes"
		}
	}
	if missed != nil {
		verdict = "not " + strings.Join(missed, ", ")
	}
	return orNothing(verdict)
}

// metBy is met for one API. It is not ok if nothing is asked or measured.
func (r row) metBy(m report.Medians, ours string) (met, ok bool) {
	least := r.bar.native
	if ours == face {
		least = r.bar.face
	}
	figure, measured := m.Of(r.benchmark, r.unit.name, ours)
	if !measured || least == 0 && r.bar.native+r.bar.face > 0 {
		return false, false
	}
	met = true
	ask := func(enough bool) { met, ok = met && enough, true }
	if r.bar.most > 0 {
		ask(figure <= r.bar.most)
	}
	if ratio, compared := r.times(m, ours); compared && least > 0 {
		ask(ratio >= least)
	}
	if allocs, measured := m.Of(r.benchmark, "allocs/op", ours); measured && r.bar.allocs != nil {
		ask(allocs <= *r.bar.allocs)
	}
	bytes, measured := m.Of(r.benchmark, "B/op", ours)
	if theirs, compared := m.Of(r.benchmark, "B/op", clientgo); measured && compared && r.bar.bytes > 0 {
		ask(bytes <= r.bar.bytes*theirs)
	}
	return met, ok
}
