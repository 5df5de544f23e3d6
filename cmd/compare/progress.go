package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// progress shows what is going on: with a bar on a terminal, and otherwise with a line for each step.
type progress struct {
	out      io.Writer
	terminal bool
	label    string // of the step that is shown; empty for none
}

func newProgress(out io.Writer) *progress { return &progress{out: out, terminal: isTerminal(out)} }

// erase moves the cursor to the beginning of the line and erases the line.
const erase = "\r\x1b[K"

// show shows how much of a step is done.
func (p *progress) show(label string, done, all int) {
	began := label != p.label
	p.label = label
	switch {
	case p.terminal:
		fmt.Fprint(p.out, erase, bar(label, done, all))
	case began:
		fmt.Fprintf(p.out, "compare: %s\n", label)
	}
}

// end removes the bar.
func (p *progress) end() {
	if p.terminal && p.label != "" {
		fmt.Fprint(p.out, erase)
	}
	p.label = ""
}

// bar draws a bar. The number of all may be a little out of date.
func bar(label string, done, all int) string {
	const cells = 24
	full := cells
	if done < all {
		full = cells * done / all
	}
	return fmt.Sprintf("[%s%s] %s, %s of %s", strings.Repeat("#", full), strings.Repeat(".", cells-full), label, thousands(done), thousands(all))
}

// isTerminal reports whether somebody sits at the other end of a file.
func isTerminal(file any) bool {
	f, ok := file.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
