package sim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// conditional are the operations that count as reached only if they have an effect. For example, some do
// nothing without an open watch or a handler.
var conditional = map[operation]bool{
	flapDefinition: true, vanishingWatch: true, denyRequests: true, takeResource: true, giveResource: true, settle: true, relistUnchanged: true, writeByHand: true, leaveInBurst: true, awaitDelivery: true, join: true, joinInBurst: true, leave: true, unblock: true, stop: true, restoreServer: true,
	cutWatches: true, compact: true, watchError: true, badEvent: true, halfOpen: true,
	failRequests: true, hangRequest: true, delayRequests: true, noVersion: true, silentWatch: true, endWatchEarly: true, lateEvents: true, duplicateEvents: true, loseBookmarks: true,
}

// do does one step.
func (w *world) do(s step) {
	r := s.rand()
	if !conditional[s.op] {
		w.reach("operation", s.op)
	}
	switch s.op {
	case write:
		w.writeOneByOne(r, s.n)
	case burst:
		w.readDuring(func() { w.writeBurst(r, s.n) })
	case pass:
		time.Sleep(time.Duration(s.n) * 100 * time.Millisecond)
	case idle:
		time.Sleep(time.Duration(s.n) * time.Minute)
	case settle:
		w.settle()
	case stop:
		w.stopInformer()
	case sendBookmark:
		w.server.Bookmark()
	case pollStatus:
		w.pollStatus(r, s.n)
	case leaveInBurst:
		w.removeHandlerInBurst(r)
	case trickleWrites:
		w.trickleWrites(r, s.n)
	case awaitDelivery:
		w.awaitDelivery(r)
	case writeByHand:
		w.writeByHand(r, s.n)
	case relistUnchanged:
		w.relistUnchanged()
	case restoreServer:
		w.restoreServer(s, r)
	case put, poison, remove:
		w.send(w.model.namedChange(s))
	case status:
		w.traceStatus()
	case addIndex:
		if w.indexes++; w.mutant.sameIndex {
			w.indexes = 1
		}
		ix := indexer.Index[*pod]{Name: fmt.Sprint("extra", w.indexes), Append: func(v []string, p *pod) []string { return append(v, nodeOf(p)...) }}
		if err := w.informer.AddIndexes(ix); err != nil {
			w.fault("indexed", "an index cannot be added: %v", err)
		}
	case join, joinInBurst, leave, unblock:
		w.changeHandlers(s, r)
	case denyRequests, takeResource, giveResource:
		w.changeResource(s, r)
	case flapDefinition:
		w.flapDefinition(s.n)
	default:
		w.injectFaults(s, r)
	}
}

// writeOneByOne makes changes one after another. Each is delivered before the next one.
func (w *world) writeOneByOne(r *rand.Rand, n int) {
	for range n {
		w.send(w.model.randomChange(r, w.setup))
		synctest.Wait()
	}
}

// writeBurst makes changes as fast as the server accepts them.
func (w *world) writeBurst(r *rand.Rand, n int) {
	for range n {
		w.send(w.model.randomChange(r, w.setup))
	}
}

// kindOf returns the kind of handler in a step.
func kindOf(s step) kind {
	if s.name != "" {
		return kindNamed(s.name)
	}
	return kinds[max(0, s.n-1)%len(kinds)]
}

func kindNamed(name string) kind {
	for _, k := range slices.Concat(kinds, heldKinds) {
		if k.name == name {
			return k
		}
	}
	panic("no such kind: " + name)
}

// changeHandlers adds, removes or unblocks handlers.
func (w *world) changeHandlers(s step, r *rand.Rand) {
	k := kindOf(s)
	switch s.op {
	case join:
		if len(w.presentHandlers()) < 10 && w.addHandler(k, false) != nil {
			w.reach("operation", join)
		}
	case joinInBurst:
		w.writeBurst(r, 10)
		if !k.traced() && len(w.presentHandlers()) < 10 && w.addHandler(k, true) != nil {
			w.reach("operation", joinInBurst)
		}
		w.writeBurst(r, 10)
	case leave:
		if here := w.presentHandlers(); len(here) > 0 {
			w.reach("operation", leave)
			w.removeHandler(here[r.IntN(len(here))])
		}
	case unblock:
		for _, a := range w.handlers {
			if a.busy.Load() && a.blocks {
				w.reach("operation", unblock)
			}
			a.unblock(a.blocks)
		}
	}
}

// injectFaults injects a fault into all sources, or into a single source.
func (w *world) injectFaults(s step, r *rand.Rand) {
	if s.op == compact {
		w.server.Compact()
	}
	if w.blank {
		s.n = 1 // after any other error the watch would resume at a meaningless version
	}
	one := r.IntN(len(w.sources) + 1)
	times := 1 + r.IntN(4)
	for i, source := range w.sources {
		if one == i || one == len(w.sources) {
			w.injectFault(source, s, times)
		}
	}
}

func (w *world) injectFault(source *source, s step, times int) {
	switch s.op {
	case failRequests:
		for range times {
			source.queueFaults(fault{failRequests, s.n})
		}
	case endWatchEarly:
		for range times {
			source.queueFaults(fault{endWatchEarly, s.n})
		}
	case vanishingWatch:
		for range s.n {
			source.queueFaults(fault{op: s.op})
		}
	case hangRequest, delayRequests, silentWatch, noVersion:
		source.queueFaults(fault{s.op, s.n})
	case loseBookmarks, duplicateEvents, lateEvents:
		source.degrade(s)
	}
	for _, stream := range source.open() {
		switch s.op {
		case cutWatches, compact:
			w.reach("operation", s.op)
			source.recordCause()
			stream.end()
		case watchError:
			source.recordCause()
			stream.sendError(s.n)
		case badEvent:
			stream.sendGarbage()
		case halfOpen:
			w.reach("operation", halfOpen)
			stream.silent.Store(true)
		}
	}
}
