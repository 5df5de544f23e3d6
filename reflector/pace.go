package reflector

import "time"

// The reflector may send paceFree requests without a pause, and then one every pacePause. That
// makes one attempt a second over any 30 s.
const (
	paceFree  = 10
	pacePause = 1500 * time.Millisecond
)

// pace limits the requests to a source, whatever it answers (B54: at most one a second over 30 s).
// The machine backs off only after failures. The pace also limits requests after apparent success,
// such as those to a server that serves a resource only briefly.
type pace struct {
	// free is the time after which paceFree attempts are free again.
	free time.Time
}

// delay returns how long the next attempt has to wait.
func (p *pace) delay() time.Duration {
	return max(0, time.Until(p.free.Add(-(paceFree-1)*pacePause)))
}

// count counts an attempt, which is a request for a full state or a watch. Further pages do not
// count.
func (p *pace) count() {
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(pacePause)
}

// lasted uncounts the last attempt, because it was a watch that lasted.
func (p *pace) lasted() { p.free = p.free.Add(-pacePause) }
