package main

import (
	"fmt"
	"io"
)

// format is an output format.
type format string

// The formats.
const (
	formatText format = "text" // also the meaning of ""
	formatWide format = "wide"
	formatJSON format = "json"
)

// set parses a format.
func (f *format) set(s string) error {
	*f = format(s)
	switch *f {
	case formatText, formatWide, formatJSON:
		return nil
	}
	return fmt.Errorf("it is neither %s, %s nor %s", formatText, formatWide, formatJSON)
}

// output returns a function that prints events in the requested format.
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

// summaryTo returns the writer of the summary. With JSON, stdout has nothing but objects.
func (o *options) summaryTo(stdout, stderr io.Writer) io.Writer {
	if o.format == formatJSON {
		return stderr
	}
	return stdout
}
