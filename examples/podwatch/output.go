package main

import (
	"fmt"
	"io"
)

// format is how events are printed.
type format string

// The formats.
const (
	formatText format = "text" // which is also that of ""
	formatWide format = "wide"
	formatJSON format = "json"
)

// set reads a format.
func (f *format) set(s string) error {
	*f = format(s)
	switch *f {
	case formatText, formatWide, formatJSON:
		return nil
	}
	return fmt.Errorf("it is neither %s, %s nor %s", formatText, formatWide, formatJSON)
}

// output returns what prints events in the format that was asked for.
func (o *options) output(w io.Writer) func(event) {
	switch o.format {
	case formatWide:
		return wide(w)
	case formatJSON:
		return jsonLines(w)
	default:
		return text(w)
	}
}

// summaryTo is where the summary goes. Who reads JSON reads nothing else.
func (o *options) summaryTo(stdout, stderr io.Writer) io.Writer {
	if o.format == formatJSON {
		return stderr
	}
	return stdout
}
