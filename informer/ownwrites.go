package informer

import (
	"context"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// answer is the answer to a write of the program, on its way through the queue.
type answer struct {
	ownwrites.Answer
	applied chan struct{} // closed once the processLoop has applied the answer, or the run has dropped it
}

var _ ownwrites.Sink = (*informerSink)(nil)

// Linked is called before the source's first answer is read, so Write sees it from then on.
func (s *informerSink) Linked(selects bool) {
	s.linked.Store(true)
	s.core.written.link(s.source, len(s.core.states), selects)
}

// Unlinked is called if a source's requests go elsewhere.
func (s *informerSink) Unlinked() { s.core.written.unlink(s.source) }

// Begins returns what the store shows of an object when a write of it begins.
func (s *informerSink) Begins(key indexer.Key) ownwrites.Before {
	before := s.core.written.before(s.source)
	if stored, ok := s.core.writer.Stored(key); ok {
		id := s.core.states[s.source].identity(key, stored)
		before.UID, before.Version = id.UID, id.Version
	}
	return before
}

// Answered queues the answer to a write, and waits until the processLoop has applied it. An answer that
// is not applied before ctx ends counts as one that the store does not show.
func (s *informerSink) Answered(ctx context.Context, a ownwrites.Answer) {
	on := &answer{Answer: a, applied: make(chan struct{})}
	if !s.prepare(ctx, on) || s.core.queue.Push(ctx, deltafifo.Delta{Op: deltafifo.Answered, Source: s.source, Object: on}) != nil {
		s.core.written.miss(&a)
		return
	}
	select {
	case <-on.applied:
	case <-ctx.Done():
		s.core.written.miss(&a)
	}
}

// modified returns the delta by which a watch would bring the object of an answer.
func modified(source uint16, a *ownwrites.Answer) deltafifo.Delta {
	return deltafifo.Delta{
		Op: deltafifo.Modified, Source: source, Key: a.Key, UID: a.UID, Version: a.Version, Stamp: records.StampOf(a.UID), Object: a.Object,
	}
}

// prepare passes the object of an answer through the transform. It returns false if that takes longer than ctx
// lives; the call then goes on, as it does on an event.
func (s *informerSink) prepare(ctx context.Context, a *answer) (prepared bool) {
	if a.Object == nil {
		return true
	}
	if s.core.options.Transform == nil {
		a.Object = s.packed(a.Object)
		return true
	}
	result := make(chan any, 1)
	go s.core.run.Within(func() {
		defer close(result)
		d := modified(s.source, &a.Answer)
		result <- s.prepared(&d)
	})
	select {
	case a.Object = <-result: // nil: it cannot be shown
		return true
	case <-ctx.Done():
		return false
	}
}

// prepared returns the object of a delta as the store may show it, or nil.
func (s *informerSink) prepared(d *deltafifo.Delta) any {
	if s.takeTurn(s.core.run.Context) != nil {
		return nil
	}
	defer s.endTurn()
	obj, err := s.transformed(d)
	if err != nil {
		return nil
	}
	return s.packed(obj)
}

// packed returns an object as the store holds it, before anybody gets it.
func (s *informerSink) packed(obj any) any {
	s.core.detector.add(obj)
	if s.core.packing == nil {
		return obj
	}
	return s.core.packing.fromObject(obj)
}

// takeTurn waits until no other goroutine prepares an object of the source. Before the source is linked,
// only the reflector's goroutine does.
func (s *informerSink) takeTurn(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *informerSink) endTurn() { <-s.turn }
