package main

import (
	"log"
	"sync"
	"time"
)

// progress shows how far the first list is: with a bar on a terminal, with a
// line a second elsewhere, the first of them after a second. It says nothing
// while nothing has come.
type progress struct {
	screen *screen
	notes  *log.Logger // which writes to screen
	began  time.Time

	mu    sync.Mutex // guards the rest; comes before the locks of notes and screen
	ended bool       // it shows nothing any more
	pods  int        // that have come
	bytes int64      // of these; 0 where nobody knows
	all   int        // -1 where nobody knows
	timer *time.Timer
	told  bool // of lines
}

func newProgress(s *screen, notes *log.Logger) *progress {
	return &progress{screen: s, notes: notes, began: time.Now()}
}

// came takes note of how many pods have come, in how many bytes. How many are to come is -1
// where the server did not say.
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

// pace says how fast pods come. The caller holds mu.
func (p *progress) pace() string { return pace(p.pods, p.bytes, time.Since(p.began)) }

// tick tells a line.
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.ended {
		return
	}
	p.told = true
	p.notes.Print(portion(p.pods, p.all) + p.pace())
	p.timer.Reset(time.Second)
}

// complete ends the progress where the list is complete. Who was told lines is
// told the last one.
func (p *progress) complete(pods int) {
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.told {
		p.told = false
		p.notes.Print(portion(pods, pods))
	}
}

// end makes it show nothing any more.
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
