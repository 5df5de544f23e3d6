package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing/synctest"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// do does one step.
func (w *world) do(s step) {
	r := s.rand()
	switch s.deed {
	case write:
		w.writes(r, s.n)
	case burst:
		w.bursts(r, s.n)
	case pass:
		time.Sleep(time.Duration(s.n) * 100 * time.Millisecond)
	case idle:
		time.Sleep(time.Duration(s.n) * time.Minute)
	case rest:
		w.settles()
	case stop:
		w.stops()
	case start:
		if !w.running {
			w.begin()
		}
	case notice:
		w.server.Bookmark()
	case restore:
		w.restores(r, s.n)
	case put, sicken, remove:
		w.send(w.truth.named(s))
	case status:
		w.traceStatus()
	case addix:
		w.indexes++
		ix := indexer.Index[*pod]{Name: fmt.Sprint("extra", w.indexes), Append: func(v []string, p *pod) []string { return append(v, nodeOf(p)...) }}
		if err := w.informer.AddIndexes(ix); err != nil {
			w.fault("index", "an index cannot be added: %v", err)
		}
	case join, mob, leave, free:
		w.handlers(s, r)
	default:
		w.breaks(s, r)
	}
}

// writes makes changes, one after the other.
func (w *world) writes(r *rand.Rand, n int) {
	for range n {
		w.send(w.truth.next(r, w.setup))
		synctest.Wait()
	}
}

// bursts makes changes as fast as the server takes them.
func (w *world) bursts(r *rand.Rand, n int) {
	for range n {
		w.send(w.truth.next(r, w.setup))
	}
}

// kindOf returns the kind of handler that a step is about.
func kindOf(s step) kind {
	for _, k := range append(kinds, held) {
		if k.name == s.name {
			return k
		}
	}
	return kinds[max(0, s.n-1)%len(kinds)]
}

// handlers does what handlers do.
func (w *world) handlers(s step, r *rand.Rand) {
	k := kindOf(s)
	switch s.deed {
	case join:
		if len(w.here()) < 10 {
			w.joins(k, false)
		}
	case mob:
		w.bursts(r, 10)
		if !k.traced() && len(w.here()) < 10 {
			w.joins(k, true)
		}
		w.bursts(r, 10)
	case leave:
		if here := w.here(); len(here) > 0 {
			w.leaves(here[r.IntN(len(here))])
		}
	case free:
		for _, a := range w.actors {
			a.free(a.sticks)
		}
	}
}

// breaks makes the sources, or one of them, misbehave.
func (w *world) breaks(s step, r *rand.Rand) {
	if s.deed == expire {
		w.server.Compact()
	}
	one := r.IntN(len(w.sources) + 1)
	times := 1 + r.IntN(4)
	for i, source := range w.sources {
		if one == i || one == len(w.sources) {
			w.breakOne(source, s, times)
		}
	}
}

func (w *world) breakOne(source *source, s step, times int) {
	switch s.deed {
	case fail:
		for range times {
			source.suffer(fault{fail, s.n})
		}
	case early:
		for range times {
			source.suffer(fault{early, s.n})
		}
	case hang, delay, mute:
		source.suffer(fault{s.deed, s.n})
	case lose, double:
		source.mu.Lock()
		source.lossy = source.lossy || s.deed == lose
		if s.deed == double {
			source.doubles += s.n
		}
		source.mu.Unlock()
	}
	for _, stream := range source.open() {
		switch s.deed {
		case cut, expire:
			source.cause()
			stream.end()
		case spit:
			source.cause()
			if w.blank {
				stream.spit(1)
			} else {
				stream.spit(s.n)
			}
		case garbage:
			stream.rubbish()
		case half:
			stream.silent.Store(true)
		}
	}
}

// restores gives the server another history, which forgets its last n changes
// and goes on from there. What nobody could find out must not happen: that a
// cache is not at the end of the old history, or that the new one is as long
// before the cache has looked.
func (w *world) restores(r *rand.Rand, n int) {
	if !w.running || len(w.truth.log) < n+3 {
		return
	}
	w.settles()
	w.notices(func() bool { return w.informer.Indexer().Version() == w.version() })
	if w.failed() {
		return
	}
	before := w.version()
	changes := w.truth.back(n + 2)
	w.serve()
	for _, c := range changes {
		w.send(c)
	}
	w.send(w.truth.next(r, w.setup))
	if w.version() == before {
		panic("the world is wrong: the new history is as long")
	}
	w.notices(func() bool {
		if len(behind(w)) == 0 && w.informer.Indexer().Version() != before {
			return true
		}
		// A watch from the future waits for it, on a real server too: only a list can tell.
		for _, source := range w.sources {
			w.breakOne(source, step{deed: spit, n: 1}, 1)
		}
		return false
	})
}

// notices sends bookmarks until something is so.
func (w *world) notices(so func() bool) {
	began := time.Now()
	for w.server.Bookmark(); ; w.server.Bookmark() {
		synctest.Wait()
		if so() {
			return
		}
		if time.Since(began) > bound {
			w.fault("converges", "at version %s, the cache is at %s: %v", w.version(), w.informer.Indexer().Version(), behind(w))
			return
		}
		time.Sleep(time.Second)
	}
}
