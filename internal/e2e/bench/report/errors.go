package report

import "errors"

// ErrNoPlace is returned where a file has no place for a section.
var ErrNoPlace = errors.New("there is no place for the table")
