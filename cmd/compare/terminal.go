package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// progress shows the current step: as a bar on a terminal, and otherwise as a line for each step.
type progress struct {
	out      io.Writer
	terminal bool
	label    string // of the current step; empty for none
}

func newProgress(out io.Writer) *progress { return &progress{out: out, terminal: isTerminal(out)} }

// erase moves the cursor to the beginning of the line and erases the line.
const erase = "\r\x1b[K"

// show shows the progress of a step.
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

// bar draws a bar. The total may be slightly out of date.
func bar(label string, done, all int) string {
	const cells = 24
	full := cells
	if done < all {
		full = cells * done / all
	}
	return fmt.Sprintf("[%s%s] %s, %s of %s", strings.Repeat("#", full), strings.Repeat(".", cells-full), label, thousands(done), thousands(all))
}

// ask asks whether to begin. The goroutine that reads the answer lasts until there is an answer or the
// program ends.
func ask(ctx context.Context, stdin io.Reader, stderr io.Writer) error {
	fmt.Fprint(stderr, "Begin? [y/N] ")
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdin).ReadString('\n') // without a line, the answer is no
		answer <- line
	}()
	select {
	case line := <-answer:
		if !isYes(line) {
			return errDeclined
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func isYes(line string) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// isTerminal reports whether a file is a terminal.
func isTerminal(file any) bool {
	f, ok := file.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
