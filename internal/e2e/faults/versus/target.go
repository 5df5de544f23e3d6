package main

import (
	"fmt"
	"strings"
)

// target is what a column of tidemark's is to be, by client-go's.
type target struct {
	of     *column
	value  float64
	strict strictness
}

// strictness tells whether a target has to be met.
type strictness int

const (
	asked strictness = iota
	hopedFor
)

func (t target) String() string {
	text := t.of.title + " " + t.of.comparison.show(t.value)
	if t.strict == hopedFor {
		text += " (hoped for)"
	}
	return text
}

func (t target) met(samples [2][]sample) bool {
	return t.of.comparison.reaches(ratio(samples, t.of), t.value)
}

// wanted spells the targets of a work.
func (w work) wanted() string {
	texts := make([]string, len(w.targets))
	for i, t := range w.targets {
		texts[i] = t.String()
	}
	return orNothing(strings.Join(texts, ", "))
}

// verdict says whether what was wanted was reached, and otherwise where not.
func (r result) verdict() string {
	var missed []string
	for _, t := range r.targets {
		if !t.met(r.samples) {
			missed = append(missed, t.of.title)
		}
	}
	text := ""
	switch {
	case len(r.targets) == 0:
	case len(missed) == 0:
		text = "yes"
	case len(missed) == len(r.targets):
		text = "no"
	default:
		text = fmt.Sprintf("not %s", strings.Join(missed, ", "))
	}
	if r.kept() {
		text += "; managedFields were kept"
	}
	return orNothing(text)
}

// kept tells whether tidemark kept managedFields that it was to drop.
func (r result) kept() bool {
	if r.task.Fields != dropped {
		return false
	}
	for _, s := range r.samples[1] {
		if !s.Bare {
			return true
		}
	}
	return false
}

// nothing stands in a cell that has no figure.
const nothing = "–"

func orNothing(text string) string {
	if text == "" {
		return nothing
	}
	return text
}
