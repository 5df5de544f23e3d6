package sim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// conditional are the deeds that count where they take effect: drawn when
// nothing is open, or nobody there, they do nothing.
var conditional = map[deed]bool{
	deny: true, take: true, give: true, rest: true, again: true, hand: true, flee: true, between: true, await: true, join: true, mob: true, leave: true, free: true, stop: true, start: true, restore: true,
	cut: true, expire: true, spit: true, garbage: true, half: true,
	fail: true, hang: true, delay: true, bare: true, mute: true, early: true, lag: true, double: true, lose: true,
}

// do does one step.
func (w *world) do(s step) {
	r := s.rand()
	if !conditional[s.deed] {
		w.reach("deed", s.deed)
	}
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
			w.reach("deed", start)
			w.begin()
		}
	case notice:
		w.server.Bookmark()
	case look:
		w.looks(r, s.n)
	case flee:
		w.leavesUnderLoad(r)
	case between:
		w.joinsBetween(kindOf(s))
	case trickle:
		w.trickles(r, s.n)
	case await:
		w.awaits(r)
	case hand:
		w.writesByHand(r, s.n)
	case again:
		w.listsAgain()
	case restore:
		w.restores(s, r)
	case put, sicken, remove:
		w.send(w.truth.named(s))
	case status:
		w.traceStatus()
	case addix:
		if w.indexes++; w.sabotage.again {
			w.indexes = 1
		}
		ix := indexer.Index[*pod]{Name: fmt.Sprint("extra", w.indexes), Append: func(v []string, p *pod) []string { return append(v, nodeOf(p)...) }}
		if err := w.informer.AddIndexes(ix); err != nil {
			w.fault("indexed", "an index cannot be added: %v", err)
		}
	case join, mob, leave, free:
		w.handlers(s, r)
	case deny, take, give:
		w.defines(s, r)
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
	if s.name != "" {
		return kindNamed(s.name)
	}
	return kinds[max(0, s.n-1)%len(kinds)]
}

func kindNamed(name string) kind {
	for _, k := range slices.Concat(kinds, held) {
		if k.name == name {
			return k
		}
	}
	panic("no such kind: " + name)
}

// handlers does what handlers do.
func (w *world) handlers(s step, r *rand.Rand) {
	k := kindOf(s)
	switch s.deed {
	case join:
		if len(w.here()) < 10 && w.joins(k, false) != nil {
			w.reach("deed", join)
		}
	case mob:
		w.bursts(r, 10)
		if !k.traced() && len(w.here()) < 10 && w.joins(k, true) != nil {
			w.reach("deed", mob)
		}
		w.bursts(r, 10)
	case leave:
		if here := w.here(); len(here) > 0 {
			w.reach("deed", leave)
			w.leaves(here[r.IntN(len(here))])
		}
	case free:
		for _, a := range w.actors {
			if a.busy.Load() && a.sticks {
				w.reach("deed", free)
			}
			a.free(a.sticks)
		}
	}
}

// breaks makes the sources, or one of them, misbehave.
func (w *world) breaks(s step, r *rand.Rand) {
	if s.deed == expire {
		w.server.Compact()
	}
	if w.blank {
		s.n = 1 // after any other error it would go on from a version that says nothing
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
	case hang, delay, mute, bare:
		source.suffer(fault{s.deed, s.n})
	case lose, double, lag:
		source.spoil(s)
	}
	for _, stream := range source.open() {
		switch s.deed {
		case cut, expire:
			w.reach("deed", s.deed)
			source.cause()
			stream.end()
		case spit:
			source.cause()
			stream.spit(s.n)
		case garbage:
			stream.rubbish()
		case half:
			w.reach("deed", half)
			stream.silent.Store(true)
		}
	}
}
