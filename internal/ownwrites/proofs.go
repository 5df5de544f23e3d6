package ownwrites

import (
	"slices"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

const (
	// mostProofs is the number of proven writes that are remembered, for at most proofLasts.
	mostProofs = 4096
	proofLasts = 10 * time.Minute
	// longestWait is how long a write keeps those waiting who ask about it.
	longestWait = 100 * time.Millisecond
)

// Proofs remembers the writes of which it is certain that they led from one version of an object to
// another in one step, and those that may turn out so. The zero value is empty. It is safe for any
// goroutine.
type Proofs struct {
	mu      sync.Mutex
	made    []proof // the place of the oldest is next, once there are mostProofs
	next    int
	places  map[state]int // in made
	pending map[step][]*Pending
}

// state is one version of an object.
type state struct{ uid, version string }

// proof is a proven write. The writer is a part of its step.
type proof struct {
	state
	step
	at time.Time
}

// step is what is known of a conditional write before its answer.
type step struct {
	writer string
	key    indexer.Key
	from   string // the version that the object has to have
}

// Pending is a conditional write under way.
type Pending struct {
	step
	ended chan struct{}
	until time.Time // nobody waits for it any longer; zero until somebody asks
}

// Begin notes that a write with a condition is about to be sent. End must follow.
func (p *Proofs) Begin(writer string, key indexer.Key, condition string) *Pending {
	w := &Pending{step: step{writer, key, condition}, ended: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.pending == nil {
		p.pending = make(map[step][]*Pending)
	}
	p.pending[w.step] = append(p.pending[w.step], w)
	return w
}

// End notes the version that a write has made of an object; "" for none, or for one without proof. Only
// the first call counts.
func (p *Proofs) End(w *Pending, uid, version string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	i := slices.Index(p.pending[w.step], w)
	if i < 0 {
		return
	}
	if version != "" {
		p.add(proof{state{uid, version}, w.step, time.Now()})
	}
	if of := slices.Delete(p.pending[w.step], i, i+1); len(of) > 0 {
		p.pending[w.step] = of
	} else {
		delete(p.pending, w.step)
	}
	close(w.ended)
}

func (p *Proofs) add(made proof) {
	if p.places == nil {
		p.places = make(map[state]int)
	}
	if len(p.made) < mostProofs {
		p.made = append(p.made, made)
	} else {
		if oldest := p.made[p.next].state; p.places[oldest] == p.next {
			delete(p.places, oldest)
		}
		p.made[p.next] = made
	}
	p.places[made.state] = p.next
	p.next = (p.next + 1) % mostProofs
}

// Made reports whether a writer's write certainly led from a version of an object to another one, and
// nothing else did. While such a write is under way it waits for the answer, at most until a tenth of a
// second after it was first asked about the write.
func (p *Proofs) Made(writer string, key indexer.Key, uid, from, to string) bool {
	asked := step{writer, key, from}
	for {
		made, pending, wait := p.look(asked, state{uid, to})
		if pending == nil {
			return made
		}
		timer := time.NewTimer(wait)
		select {
		case <-pending.ended:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// look returns the answer, or a write to wait for, and how long.
func (p *Proofs) look(asked step, to state) (made bool, w *Pending, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	now := time.Now()
	if i, ok := p.places[to]; ok {
		known := p.made[i]
		return known.step == asked && now.Sub(known.at) < proofLasts, nil, 0
	}
	for _, pending := range p.pending[asked] {
		if pending.until.IsZero() {
			pending.until = now.Add(longestWait)
		}
		if left := pending.until.Sub(now); left > wait {
			w, wait = pending, left
		}
	}
	return false, w, wait
}
