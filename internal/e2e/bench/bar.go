package main

import "strings"

// bar is what tidemark has to reach. The zero value asks for nothing.
type bar struct {
	native, face float64 // how many times client-go's value must be ours, at least
	most         float64 // what either of our values may be
}

// text says what is asked, with values spelled by show.
func (b bar) text(show func(float64) string) string {
	switch {
	case b.most > 0:
		return "≤ " + show(b.most)
	case b.native > 0 && b.native == b.face:
		return times(b.native) + ", both"
	case b.native > 0 && b.face > 0:
		return times(b.native) + "; face " + times(b.face)
	case b.native > 0:
		return times(b.native) + ", native"
	}
	return nothing
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
	switch {
	case measured && b.most > 0:
		return ours.value <= b.most, true
	case measured && compared && least > 0:
		return theirs.value >= least*ours.value, true
	}
	return false, false
}
