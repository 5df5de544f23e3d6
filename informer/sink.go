package informer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/share"
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

// abandon gives up the sink if its transform is running, and returns the key of the transform's
// object.
func (s *informerSink) abandon() (key indexer.Key, stuck bool) {
	running := s.transforming.Load()
	if running == nil || !s.transforming.CompareAndSwap(running, nil) {
		return key, false
	}
	key = *running // valid: the reflector's goroutine waits until abandoned is closed
	close(s.abandoned)
	return key, true
}

// endTransform is called when the transform has returned for an object, or is ending the goroutine.
// It returns false if the sink was abandoned.
func (s *informerSink) endTransform(from *deltafifo.Delta) bool {
	if s.transforming.CompareAndSwap(&from.Key, nil) {
		return true
	}
	<-s.abandoned
	return false
}

var (
	_ reflector.Sink     = (*informerSink)(nil)
	_ reflector.Recaller = (*informerSink)(nil)
)

// Recall returns the stored object of a key if it is the given version of the object, already
// transformed. It returns false if the transform has ever changed an identity, since stored objects
// may not have the server's then, and for an object put by hand.
func (s *informerSink) Recall(key indexer.Key, uid, version string) (stored any, ok bool) {
	stored, ok = s.core.writer.Stored(key)
	if !ok || s.untrusted.Load() || s.core.rewritesIdentity.Load() || records.IdentityOf(stored) != (records.Identity{UID: uid, Version: version}) {
		return nil, false
	}
	s.core.writer.Freeze(func(tx *indexer.Tx) {
		var stamp uint64
		stored, stamp, ok = tx.Stamped(key)
		ok = ok && stamp != records.StampByHand && records.IdentityOf(stored) == (records.Identity{UID: uid, Version: version})
	})
	if !ok {
		return nil, false
	}
	return stored, true
}

// reuseAtOnce is the number of objects that Reuse looks up in one moment of the store: writers wait.
const reuseAtOnce = 64

// Reuse replaces listed objects by the stored ones of the same version. With a transform it does
// nothing: the transform is called for each object received.
func (s *informerSink) Reuse(listed []deltafifo.Delta) {
	if s.core.options.Transform != nil || s.untrusted.Load() {
		return
	}
	for some := range slices.Chunk(listed, reuseAtOnce) {
		s.core.writer.Freeze(func(tx *indexer.Tx) { reuse(tx, some) })
	}
}

// reuse first looks up all objects, and then reads them: so the processor waits for the memory of
// several objects at once.
func reuse(tx *indexer.Tx, listed []deltafifo.Delta) {
	var found [reuseAtOnce]any
	for i := range listed {
		if stored, stamp, ok := tx.Stamped(listed[i].Key); ok && stamp != records.StampByHand {
			found[i] = stored
		}
	}
	for i := range listed {
		d := &listed[i]
		if found[i] != nil && d.UID != "" && d.Version != "" && records.IdentityOf(found[i]) == identityOf(d) {
			d.Object, d.Recalled = found[i], true
		}
	}
}

// DecodesHere is called by a reflector that decodes the objects itself. If there is a transform,
// values are shared after it, since it may write into the objects.
func (s *informerSink) DecodesHere() (t *share.Table, values bool) {
	table := s.core.sharing.table
	if table == nil || s.core.options.Transform == nil {
		return table, true
	}
	s.pass = sharepass.New(table)
	return share.New(s.core.options.ShareBytes), false
}

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

// transform prepares the object of one delta, or quarantines it if the transform fails; a delete
// stays a delete. It returns [ErrStopped] if the run ended before the transform was called or
// returned.
func (s *informerSink) transform(d *deltafifo.Delta, transform func(any) (any, error)) error {
	s.transforming.Store(&d.Key) // before loading stopping: the end of the run sets stopping, then loads this
	if s.run.Stopping.Load() {
		s.endTransform(d)
		return ErrStopped
	}
	returned := false
	defer func() {
		if !returned && s.endTransform(d) { // it is ending the goroutine
			s.run.Exit(fmt.Errorf("the transform, called for object %.*q: %w", object.MaxText, d.Key, ErrExited))
		}
	}()
	obj, err := s.core.callTransform(transform, d.Object)
	returned = true
	switch {
	case !s.endTransform(d):
		return ErrStopped
	case err != nil:
		s.poison(d, err)
	default:
		s.transformedTo(d, obj)
	}
	return nil
}

// transformedTo puts the result of the transform into the delta.
func (s *informerSink) transformedTo(d *deltafifo.Delta, obj any) {
	if s.pass != nil {
		obj = s.sharePassed(d.Key, d.Object, obj)
	}
	d.Object = obj
	if records.IdentityOf(obj) != identityOf(d) {
		s.core.rewritesIdentity.Store(true)
	}
	// Key, UID and version of the delta stay those of the server.
	if key, ok := keyOf(obj); ok && key != d.Key {
		s.core.rewritesKeys.Store(true)
	}
}

// poison removes an object that cannot be prepared from its delta, and reports it.
func (s *informerSink) poison(d *deltafifo.Delta, err error) {
	d.Object = nil
	if d.Op == deltafifo.Deleted {
		d.Lost = true
	} else {
		d.Op, d.Object = deltafifo.Poisoned, err
	}
	report := &QuarantineError{Key: d.Key, Err: err}
	if errors.Is(err, ErrType) {
		s.core.status.refused(report)
	}
	s.core.observe(report)
}

// sharePassed returns an object that shares values with others, after its transform.
func (s *informerSink) sharePassed(key indexer.Key, decoded, result any) any {
	if table := s.core.sharing.table; table.DetectsWrites() {
		table.Name(key.String)
	}
	return s.pass.Share(decoded, result)
}

// callTransform calls a transform. It returns an error if the transform panics, or if its result
// cannot be stored.
func (c *core) callTransform(transform func(any) (any, error), obj any) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: panic: %v", ErrTransform, p)
		}
	}()
	if result, err = transform(obj); err != nil {
		return result, fmt.Errorf("%w: %w", ErrTransform, err)
	}
	keyOf(result) // a typed nil panics here
	if err := c.objects.validate(result); err != nil {
		return result, fmt.Errorf("%w: %w", ErrTransform, err)
	}
	if result == nil {
		return nil, fmt.Errorf("%w: it has returned nil", ErrTransform)
	}
	return result, nil
}
