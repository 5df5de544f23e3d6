package main

import (
	"io"
	"io/fs"
	"os"
	"sync"
)

// erase moves the cursor to the beginning of the line and erases the line.
const erase = "\r\x1b[K"

// screen is stderr. On a terminal it keeps a line that can change below all other output.
type screen struct {
	terminal bool

	mu   sync.Mutex // guards the rest
	out  io.Writer
	last string // the kept line; empty if there is none
}

func newScreen(out io.Writer) *screen {
	return &screen{out: out, terminal: isTerminal(out)}
}

// isTerminal reports whether a file is a terminal, on which a line can be changed.
func isTerminal(out io.Writer) bool {
	file, ok := out.(interface{ Stat() (fs.FileInfo, error) })
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

// Write writes lines above the kept one.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.last == "" {
		return s.out.Write(p)
	}
	text := append([]byte(erase), p...)
	if _, err := s.out.Write(append(text, s.last...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// keep replaces the kept line, or removes it for "".
func (s *screen) keep(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if line == s.last {
		return
	}
	s.last = line
	_, _ = io.WriteString(s.out, erase+line) // fails only if the terminal is gone
}
