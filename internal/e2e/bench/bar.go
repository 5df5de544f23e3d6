package main

import (
	"fmt"
	"math"
	"strings"
)

// bar is what tidemark has to reach. The zero value asks for nothing.
type bar struct {
	native, face float64 // how many times client-go's value must be ours, at least
	most         float64 // what either of our values may be
	// The rest is asked of those of whom a ratio is asked, or of both where
	// none is.
	mallocs *float64 // how many allocations an operation may make
	bytes   float64  // how much of client-go's allocated bytes ours may be
}

// text says what is asked, with values spelled by show.
func (b bar) text(show func(float64) string) string {
	var asked []string
	switch {
	case b.native > 0 && b.native == b.face:
		asked = append(asked, times(b.native)+", both")
	case b.native > 0 && b.face > 0:
		asked = append(asked, times(b.native)+"; face "+times(b.face))
	case b.native > 0:
		asked = append(asked, times(b.native)+", native")
	case b.face > 0:
		asked = append(asked, times(b.face)+", face")
	}
	if b.most > 0 {
		asked = append(asked, "≤ "+show(b.most))
	}
	if b.mallocs != nil {
		asked = append(asked, "≤ "+count(*b.mallocs)+" allocations")
	}
	if b.bytes > 0 {
		asked = append(asked, fmt.Sprintf("≤ %.0f %% of the bytes", 100*b.bytes))
	}
	if len(asked) == 0 {
		return nothing
	}
	return strings.Join(asked, "; ")
}

// met tells whether what was measured is enough: yes, no, or by whom not. It is
// a dash where nothing is asked or measured.
func (b bar) met(r result) string {
	var asked, missed []string
	for _, i := range []implementation{native, face} {
		met, ok := b.metBy(i, r)
		if !ok {
			continue
		}
		asked = append(asked, i.flag())
		if !met {
			missed = append(missed, i.flag())
		}
	}
	switch {
	case len(asked) == 0:
		return nothing
	case len(missed) == 0:
		return "yes"
	case len(missed) == len(asked):
		return "no"
	}
	return strings.Join(missed, ", ") + ": no"
}

// metBy is met for one of ours; not ok where nothing is asked or measured.
func (b bar) metBy(i implementation, r result) (met, ok bool) {
	ours, measured := r.medians[i]
	theirs, compared := r.medians[clientgo]
	least := b.native
	if i == face {
		least = b.face
	}
	if !measured || least == 0 && b.native > 0 {
		return false, false
	}
	met = true
	ask := func(enough bool) { met, ok = met && enough, true }
	if b.most > 0 {
		ask(ours.value <= b.most)
	}
	if least > 0 && compared {
		ask(theirs.value >= least*ours.value)
	}
	if b.mallocs != nil {
		// Rounded: an allocation that serves many operations is none of each.
		ask(math.Round(ours.mallocs) <= *b.mallocs)
	}
	if b.bytes > 0 && compared {
		ask(ours.bytes <= b.bytes*theirs.bytes)
	}
	return met, ok
}
