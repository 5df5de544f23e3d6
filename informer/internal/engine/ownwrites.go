package engine

import (
	"context"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/fences"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// answer is the answer to an own write, on its way through the queue.
type answer struct {
	ownwrites.Answer
	applied chan struct{} // closed once the processLoop has applied the answer, or the run has dropped it
}

// Linked is called before the source's first answer is read, so all later calls of Write see that it is
// linked.
func (s *Sink) Linked(selects bool) {
	s.linked.Store(true)
	s.core.written.link(s.source, selects)
}

// Unlinked is called if the source's requests go elsewhere.
func (s *Sink) Unlinked() { s.core.written.unlink(s.source) }

// Late counts the answers that the informer did not show in time.
func (s *Sink) Late() *atomic.Int32 { return &s.core.written.late }

// Begins returns what the store shows of an object when a write of it starts.
func (s *Sink) Begins(key indexer.Key) ownwrites.Before {
	before := ownwrites.Before{History: s.core.versions.history()}
	if stored, ok := s.core.writer.Stored(key); ok {
		before.Identity = s.core.states[s.source].identity(key, stored)
	}
	return before
}

// Answered queues the answer to a write, and waits until the processLoop has applied it. Before the source's
// first full state, it only counts the answer.
func (s *Sink) Answered(a ownwrites.Answer) {
	on := &answer{Answer: a, applied: make(chan struct{})}
	if !s.core.written.complete(s.source) {
		s.Missed(a)
		return
	}
	if a.Object != nil {
		s.core.run.Within(func() { s.prepare(on) })
	}
	if s.core.queue.Push(s.core.run.Context, deltafifo.Delta{Op: deltafifo.Answered, Source: s.source, Object: on}) != nil {
		s.Missed(a)
		return
	}
	select {
	case <-on.applied:
	case <-s.core.run.Context.Done():
	}
}

// Missed counts an answer that is not shown, or not in time.
func (s *Sink) Missed(a ownwrites.Answer) {
	if s.core.outside(&a) {
		s.core.written.count(&a, fences.Outside)
	} else {
		s.core.written.miss(&a)
	}
}

// modified returns the delta that a watch would send for the object of an answer.
func modified(source uint16, a *ownwrites.Answer) deltafifo.Delta {
	return deltafifo.Delta{
		Op: deltafifo.Modified, Source: source, Key: a.Key, UID: a.UID, Version: a.Version, Stamp: object.StampOf(a.UID), Object: a.Object,
	}
}

// prepare replaces the object of an answer with what the store may show, which may be nil.
func (s *Sink) prepare(a *answer) {
	if s.core.options.Transform == nil {
		a.Object = s.packed(a.Object)
		return
	}
	d := modified(s.source, &a.Answer)
	a.Object = nil
	if s.takeTurn(s.core.run.Context) != nil {
		return
	}
	defer s.endTurn()
	if obj, err := s.transformed(&d); err == nil {
		a.Object = s.packed(obj)
	}
}

// packed returns an object as the store holds it. It is called before the program has the object.
func (s *Sink) packed(obj any) any {
	s.core.detector.add(obj)
	if s.core.packing == nil {
		return obj
	}
	return s.core.packing.fromObject(obj)
}

// takeTurn waits until no other goroutine prepares an object of the source. Before the source is linked, only
// the reflector's goroutine prepares objects.
func (s *Sink) takeTurn(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Sink) endTurn() { <-s.turn }
