package reflector

import "time"

// A source may be asked paceFree times without a pause, and then once every pacePause. That makes one
// attempt a second over any 30 s.
const (
	paceFree  = 10
	pacePause = 1500 * time.Millisecond
)

// pace bounds how often a source is asked, whatever it answers (B54: at most once a second over 30 s).
// The machine backs off after failures. The pace is for answers that look like success, such as those of a
// server that serves a resource for moments.
type pace struct {
	// free is the time from which paceFree attempts are free again.
	free time.Time
}

// delay returns how long the next attempt has to wait.
func (p *pace) delay() time.Duration {
	return max(0, time.Until(p.free.Add(-(paceFree-1)*pacePause)))
}

// count counts an attempt: a request of a full state or of a watch. Further pages are none.
func (p *pace) count() {
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(pacePause)
}

// lasted takes back the last attempt: it was a watch, and has lasted.
func (p *pace) lasted() { p.free = p.free.Add(-pacePause) }
