package report

import "errors"

var (
	// ErrNoPlace means that a file has no place for a section.
	ErrNoPlace = errors.New("there is no place for the table")
	// ErrNoMedians means that benchstat's output has no figures.
	ErrNoMedians = errors.New("there are no figures: did a benchmark run?")
)
