package served

import (
	"slices"
	"time"
)

// Answer says what was found out about a missing resource.
type Answer uint8

const (
	// Served means that the server has the resource, in the wanted version.
	Served Answer = iota + 1
	// Elsewhere means that the server has the resource, in other versions only.
	Elsewhere
	// Deleted means that the resource was removed with all its objects.
	Deleted
	// Unknowable means that discovery cannot be read now; the reflector should request the resource
	// itself.
	Unknowable
)

// An answer of discovery may come from a server that is about to serve the resource. Only proofs
// answers in a row that lack it prove that it was removed, if they extend over proofTime.
const (
	proofs    = 3
	proofTime = 10 * time.Second
)

// finding is an answer of discovery: the versions in which the resource can be listed and watched.
type finding struct {
	versions []string
	err      error
	at       time.Time
}

// absence is a row of answers that lack the resource.
type absence struct {
	answers int
	since   time.Time
}

// judge returns what a finding means for a resource in the wanted version; 0 if discovery has to be
// asked again. Objects says whether there are objects to delete.
func (a *absence) judge(f finding, wanted string, objects bool) Answer {
	switch {
	case f.err != nil:
		return Unknowable
	case slices.Contains(f.versions, wanted):
		return Served
	case len(f.versions) > 0:
		return Elsewhere
	}
	if a.answers++; a.answers == 1 {
		a.since = f.at
	}
	if objects && a.answers >= proofs && f.at.Sub(a.since) >= proofTime {
		return Deleted
	}
	return 0
}
