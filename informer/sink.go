package informer

import (
	"context"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/sharepass"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// informerSink is the sink of one reflector. It prepares each object on the reflector's goroutine,
// with no lock held, and queues it.
type informerSink struct {
	core      *core
	run       *run
	part      uint16
	replacing bool   // between Begin and Commit or Abort
	queued    uint64 // the number of the part's last delta, see receipt
	// untrusted is set while the stored objects must not be trusted: from the beginning of a run, or
	// of a new history, until a replacement that reuses none of them is queued.
	untrusted atomic.Bool
	// pass shares values between objects after the transform. It is nil without a transform, or if
	// the objects do not belong to the informer alone.
	pass *sharepass.Pass

	// fill is the user's initial state of the store. It is nil once the state has been written.
	fill *State[any]

	// transforming is the key of the object passed to the running transform, nil while none runs.
	// The goroutine that sets it to nil decides about the object: either the reflector's, after
	// the transform, or the goroutine that abandons the sink, if the transform does not return
	// soon after the end of the run. Then the transform's result is dropped.
	transforming atomic.Pointer[indexer.Key]
	abandoned    chan struct{} // closed when the sink is abandoned; nil without a transform
}

// newInformerSink returns the sink of a part for a run. It is called before the run's goroutines
// start.
func newInformerSink(c *core, run *run, part uint16) *informerSink {
	s := &informerSink{core: c, run: run, part: part, queued: c.status.applied[part].Load()}
	p := &c.parts[part]
	p.untrusted = p.untrusted || run.options.Anew || closed(c.sharing.broken) && !p.replacedSinceBroken
	if p.content == filling {
		p.content = empty
	}
	if p.fill != nil && !p.untrusted {
		s.fill, p.content = p.fill, filling
	}
	p.fill = nil
	s.untrusted.Store(p.untrusted)
	if c.options.Transform != nil {
		s.abandoned = make(chan struct{})
	}
	return s
}

var (
	_ reflector.Sink     = (*informerSink)(nil)
	_ reflector.Recaller = (*informerSink)(nil)
)

func (s *informerSink) Begin(ctx context.Context, h reflector.History) error {
	s.replacing = true
	if h == reflector.NewHistory {
		s.untrusted.Store(true)
	}
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Begin, NewHistory: h == reflector.NewHistory, ReplacesAll: s.untrusted.Load()})
}

func (s *informerSink) Commit(ctx context.Context, version string) error {
	s.core.status.answered(s.part, s.queued+1)
	return s.commit(ctx, version)
}

// commit ends a replacement, by the source or by Fill.
func (s *informerSink) commit(ctx context.Context, version string) error {
	s.replacing = false
	err := s.push(ctx, deltafifo.Delta{Op: deltafifo.Commit, Version: version})
	if err == nil {
		s.untrusted.Store(false)
	}
	return err
}

func (s *informerSink) Abort(ctx context.Context) error {
	s.replacing = false
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Abort})
}

func (s *informerSink) push(ctx context.Context, d deltafifo.Delta) error {
	d.Part = s.part
	s.queued++
	return s.run.queue.Push(ctx, d)
}

// Write prepares the objects of a batch, and queues the batch.
func (s *informerSink) Write(ctx context.Context, batch []deltafifo.Delta) error {
	transform := s.core.options.Transform
	for i := range batch {
		d := &batch[i]
		d.Part, d.Stamp = s.part, records.StampOf(d.UID)
		switch {
		case d.Op == deltafifo.Bookmark || d.Recalled:
		case d.Op == deltafifo.Poisoned || d.Lost: // the object could not be decoded
			if err, ok := d.Object.(error); ok && !d.Lost {
				d.Object = undecodable(err)
			}
		case transform != nil:
			if err := s.transform(d, transform); err != nil {
				return err
			}
		}
	}
	if beforeStore := s.core.hooks.beforeStore; beforeStore != nil {
		beforeStore(batch)
	}
	s.queued += uint64(len(batch))
	if n := len(batch); n > 0 && !s.replacing { // a page of a list proves nothing before the commit
		s.noteReceived(&batch[n-1])
	}
	return s.run.queue.Push(ctx, batch...)
}

// noteReceived records in the status that the source has sent something. A bookmark without a
// version means that a watch has brought all changes since the run before, and so confirms that
// the source has opened that watch.
func (s *informerSink) noteReceived(last *deltafifo.Delta) {
	if last.Op == deltafifo.Bookmark && last.Version == "" {
		s.core.status.answered(s.part, s.queued)
		return
	}
	s.core.status.received(s.part, last.Op == deltafifo.Bookmark, s.queued)
}
