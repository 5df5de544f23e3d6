package main

import (
	"io"
	"io/fs"
	"os"
	"sync"
)

// erase goes back to the beginning of the line and empties it.
const erase = "\r\x1b[K"

// screen is stderr. On a terminal it keeps one line below all others, which can
// be changed; the others are written as usual.
type screen struct {
	terminal bool

	mu   sync.Mutex // guards the rest
	out  io.Writer
	last string // the line that is kept; empty if there is none
}

func newScreen(out io.Writer) *screen {
	return &screen{out: out, terminal: isTerminal(out)}
}

// isTerminal tells whether lines can be changed in a file after they are written.
func isTerminal(out io.Writer) bool {
	file, ok := out.(interface{ Stat() (fs.FileInfo, error) })
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

// Write writes lines that stay.
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

// keep shows another line below the others, or none for "".
func (s *screen) keep(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if line == s.last {
		return
	}
	s.last = line
	_, _ = io.WriteString(s.out, erase+line) // a terminal that is gone needs no line
}
