package main

import (
	"log"
	"sync"
	"time"
)

// progress shows the progress of the first list: with a bar on a terminal, and otherwise with a line
// each second, beginning after a second. It shows nothing before the first pods have come.
type progress struct {
	screen *screen
	notes  *log.Logger // which writes to screen
	began  time.Time

	mu      sync.Mutex // guards the rest; comes before the locks of notes and screen
	ended   bool       // no more output
	pods    int        // received so far
	bytes   int64      // of these pods; 0 if unknown
	all     int        // of the list; -1 if unknown
	timer   *time.Timer
	printed bool // lines were printed
}

func newProgress(s *screen, notes *log.Logger) *progress {
	return &progress{screen: s, notes: notes, began: time.Now()}
}

// came updates the number of pods received, and their bytes. more is the number of pods that are
// still missing, or -1 if the server did not say.
func (p *progress) came(pods int, more, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.pods, p.all, p.bytes = pods, -1, bytes
	if more >= 0 {
		p.all = pods + int(more)
	}
	switch {
	case p.ended:
	case p.screen.terminal:
		p.screen.keep(bar(p.pods, p.all, p.pace()))
	case p.timer == nil:
		p.timer = time.AfterFunc(time.Second-time.Since(p.began), p.tick)
	}
}

// pace formats the rate of the list. The caller holds mu.
func (p *progress) pace() string { return pace(p.pods, p.bytes, time.Since(p.began)) }

// tick prints a line.
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.ended {
		return
	}
	p.printed = true
	p.notes.Print(portion(p.pods, p.all) + p.pace())
	p.timer.Reset(time.Second)
}

// complete ends the progress with the complete list. If lines were printed, it prints the last one.
func (p *progress) complete(pods int) {
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.printed {
		p.printed = false
		p.notes.Print(portion(pods, pods))
	}
}

// end stops the output.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.ended {
		return
	}
	p.ended = true
	p.screen.keep("")
	if p.timer != nil {
		p.timer.Stop()
	}
}
