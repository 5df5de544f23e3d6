package engine

import (
	"context"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/sharepass"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Sink is the sink of one reflector. It prepares each object on the reflector's goroutine, with no lock held,
// and queues it.
type Sink struct {
	core      *Core
	source    uint16
	replacing bool   // between Begin and Commit or Abort
	queued    uint64 // the number of the source's last delta, see receipt
	// pass shares values between objects after the transform. It is nil without a transform, and for objects
	// that do not belong only to the informer.
	pass *sharepass.Pass

	// linked is set once requests of the source pass through an OwnWrites. From then on, the goroutines of
	// writes also prepare objects, one at a time. Sending to turn takes the turn.
	linked atomic.Bool
	turn   chan struct{}
}

// newSink returns the sink of a source.
func newSink(c *Core, source uint16) *Sink {
	return &Sink{core: c, source: source, turn: make(chan struct{}, 1)}
}

var _ interface {
	reflector.Sink
	keeper.Sink
} = (*Sink)(nil)

// Begin queues the beginning of a replacement.
func (s *Sink) Begin(ctx context.Context, h reflector.History) error {
	s.replacing = true
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Begin, NewHistory: h == reflector.NewHistory})
}

// Commit queues the end of a replacement, which is the source's state at a version.
func (s *Sink) Commit(ctx context.Context, version string) error {
	s.core.status.answered(s.source, s.queued+1)
	s.replacing = false
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Commit, Version: version})
}

// Abort queues the end of a replacement that is given up.
func (s *Sink) Abort(ctx context.Context) error {
	s.replacing = false
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Abort})
}

func (s *Sink) push(ctx context.Context, d deltafifo.Delta) error {
	d.Source = s.source
	s.queued++
	return s.core.queue.Push(ctx, d)
}

// Write prepares the objects of a batch, and queues the batch.
func (s *Sink) Write(ctx context.Context, batch []deltafifo.Delta) error {
	if err := s.prepareBatch(ctx, batch); err != nil {
		return err
	}
	s.queued += uint64(len(batch))
	if n := len(batch); n > 0 && !s.replacing { // a page of a list confirms nothing before the commit
		s.noteReceived(batch)
	}
	return s.core.queue.Push(ctx, batch...)
}

func (s *Sink) prepareBatch(ctx context.Context, batch []deltafifo.Delta) error {
	transforms := s.core.options.Transform != nil
	if s.linked.Load() && transforms {
		if err := s.takeTurn(ctx); err != nil {
			return err
		}
		defer s.endTurn()
	}
	for i := range batch {
		d := &batch[i]
		d.Source, d.Stamp = s.source, object.StampOf(d.UID)
		switch {
		case d.Op == deltafifo.Bookmark || d.Op == deltafifo.Progress || d.Recalled:
		case d.Op == deltafifo.Poisoned || d.Lost: // the object could not be decoded
			if err, ok := d.Object.(error); ok && !d.Lost {
				d.Object = undecodable(err)
			}
		case transforms:
			if ctx.Err() != nil { // the rest of the batch would be dropped
				return context.Cause(ctx)
			}
			s.transform(d)
		}
	}
	s.packBatch(batch)
	return nil
}

// packBatch packs the objects of a batch that were not packed on arrival, and passes them to the detector.
func (s *Sink) packBatch(batch []deltafifo.Delta) {
	if s.core.packing == nil && s.core.detector == nil {
		return
	}
	for i := range batch {
		if d := &batch[i]; d.Op <= deltafifo.Deleted && !d.Lost && !d.Recalled {
			d.Object = s.packed(d.Object)
		}
	}
}

// Connect is called when a reflector is made.
func (s *Sink) Connect(r keeper.Reflector) keeper.Form {
	s.core.reflectors[s.source].Store(&r)
	f := keeper.Form{Timed: s.core.timed}
	if p := s.core.packing; p != nil && r.Encoded != nil {
		p.encoded.use(nil, r.Encoded)
	}
	if r.Received != nil {
		f.Packs = s.packer(r.Objects, r.Received)
		f.Values, f.Deep = s.sharing()
	}
	return f
}

// packer returns what packs a source's objects from their bytes, or nil. With a transform, the sink encodes
// and packs the objects after it. The sink also does so for a source whose decoder differs from an earlier
// source's.
func (s *Sink) packer(objects any, d pack.Decoder) pack.Taker {
	p := s.core.packing
	if p == nil || p.goType == nil || d.Type() != p.goType || s.core.options.Transform != nil || !p.received.use(objects, d) {
		return nil
	}
	return p
}

// sharing returns the table of shared values for a source's decoder, and whether the decoder shares more than
// strings. With a transform, which may write into the objects, values are shared after it.
func (s *Sink) sharing() (t *share.Table, deep bool) {
	table := s.core.values
	if table == nil || s.core.options.Transform == nil {
		return table, true
	}
	s.pass = sharepass.New(table)
	return share.New(0), false
}

// noteReceived records in the status that the source has sent something. A single Progress confirms the
// store's content, but is not an event.
func (s *Sink) noteReceived(batch []deltafifo.Delta) {
	last := &batch[len(batch)-1]
	if last.Op == deltafifo.Progress && len(batch) == 1 {
		s.core.status.answered(s.source, s.queued)
		return
	}
	s.core.status.received(s.source, last.Op == deltafifo.Bookmark, s.queued)
}
