package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// erase moves the cursor to the beginning of the line and erases the line.
const erase = "\r\x1b[K"

// progress writes to stderr. On a terminal, it also shows the progress of the first list in a bar below all
// other output.
type progress struct {
	out      io.Writer
	terminal bool
	began    time.Time

	mu    sync.Mutex // guards the rest
	last  string     // the bar; empty if there is none
	ended bool       // no more bars
}

// Write writes lines above the bar.
func (p *progress) Write(lines []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.last == "" {
		return p.out.Write(lines)
	}
	_, err := io.WriteString(p.out, erase+string(lines)+p.last)
	return len(lines), err
}

// came shows the number of received pods, and their bytes. more is the number of missing pods, or -1 if the
// server did not send it.
func (p *progress) came(pods int, more, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()

	all := -1
	if more >= 0 {
		all = pods + int(more)
	}
	if p.terminal && !p.ended {
		line, tail := bar(pods, all), pace(pods, bytes, time.Since(p.began))
		if len(line)+len(tail) < 80 {
			line += tail
		}
		p.show(line)
	}
}

// end removes the bar.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.ended = true
	p.show("")
}

// show replaces the bar. The caller holds mu.
func (p *progress) show(bar string) {
	if bar != p.last {
		p.last = bar
		_, _ = io.WriteString(p.out, erase+bar) // fails only if the terminal is gone
	}
}

// bar draws a bar for the number of received pods. all is the number of all pods, or -1 if it is unknown.
func bar(came, all int) string {
	const cells = 30
	if all < 0 {
		return fmt.Sprintf("podwatch: %s so far", count(came, "pod"))
	}
	full, percent := cells, 100
	if came < all {
		full, percent = cells*came/all, 100*came/all
	}
	return fmt.Sprintf("podwatch: [%s%s] %3d%%  %d of %s", strings.Repeat("#", full), strings.Repeat(".", cells-full), percent, came, count(all, "pod"))
}

// pace formats the number of received bytes and, after a second, of pods per second.
func pace(pods int, bytes int64, since time.Duration) string {
	text := ""
	if bytes > 0 {
		text = fmt.Sprintf(", %.1f MB", float64(bytes)/1e6)
	}
	if since >= time.Second {
		text += fmt.Sprintf(", %.0f/s", float64(pods)/since.Seconds())
	}
	return text
}
