package informer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/internal/sharepass"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// informerSink is the sink that a reflector writes to: it prepares each object on
// the reflector's goroutine, with no lock held, and queues it.
type informerSink struct {
	core   *core
	run    *run
	part   uint16
	staged bool // a full state is arriving
	// afresh says that the stored objects are not to be trusted. It is reset when a full state
	// without any of them is committed.
	afresh atomic.Bool
	// pass shares the values of objects after the transform. It is nil without a transform, or if
	// the objects are not the informer's alone.
	pass *sharepass.Pass

	// fill is the state that a user has filled the store with, nil once it is written. filled is
	// the number of its objects written so far.
	fill   *State[any]
	filled int

	// storedKeys maps a server's key to the key under which its object is stored, where the
	// transform changed the key. A later event whose transform fails still finds the object by it.
	// When a full state is committed, stagedKeys replaces storedKeys.
	storedKeys, stagedKeys map[indexer.Key]indexer.Key

	// The batch being written, and the number of its deltas given to the transform.
	batch       []deltafifo.Delta
	transformed int
	// transforming is the key of the object in the transform, nil outside of a call. The goroutine
	// that sets it to nil decides about the object: the reflector's goroutine, or abandon, if the
	// transform did not return in time at the end of the run. A result after abandon is dropped.
	transforming atomic.Pointer[indexer.Key]
	abandoned    chan struct{} // closed when the sink is abandoned; nil without a transform
}

// newInformerSink returns the sink of a part for a run. The run's goroutines have not started yet.
func newInformerSink(c *core, run *run, part uint16) *informerSink {
	s := &informerSink{core: c, run: run, part: part}
	p := &c.parts[part]
	p.untrusted = p.untrusted || run.options.Anew || closed(c.sharing.broken) && !p.renewed
	if p.untrusted {
		p.fill = nil
	}
	s.fill = p.fill
	s.afresh.Store(p.untrusted)
	if c.options.Transform != nil {
		s.abandoned = make(chan struct{})
	}
	return s
}

// abandon gives up a sink with a running transform, and returns the key of the object in it.
func (s *informerSink) abandon() (key indexer.Key, stuck bool) {
	running := s.transforming.Load()
	if running == nil || !s.transforming.CompareAndSwap(running, nil) {
		return key, false
	}
	key = *running // the reflector's goroutine waits
	close(s.abandoned)
	return key, true
}

// transformReturned is called when the transform has returned for an object, or ended its
// goroutine. It returns false if the sink is abandoned.
func (s *informerSink) transformReturned(from *deltafifo.Delta) bool {
	if s.transforming.CompareAndSwap(&from.Key, nil) {
		return true
	}
	<-s.abandoned
	return false
}

var (
	_ reflector.Sink     = (*informerSink)(nil)
	_ reflector.Recaller = (*informerSink)(nil)
	_ reflector.Resumer  = (*informerSink)(nil)
)

// Recall returns the stored, transformed object if it has this UID and version. It returns nothing
// if the transform has ever changed an identity, because stored objects do not show the server's
// identity then; nor for an object written by hand.
func (s *informerSink) Recall(key indexer.Key, uid, version string) (stored any, ok bool) {
	stored, ok = s.core.writer.Stored(key)
	if !ok || s.afresh.Load() || s.core.rewritesIdentity.Load() || identityOf(stored) != (identity{uid, version}) {
		return nil, false
	}
	s.core.writer.Freeze(func(tx *indexer.Tx) {
		var stamp uint64
		stored, stamp, ok = tx.Stamped(key)
		ok = ok && stamp != stampByHand && identityOf(stored) == (identity{uid, version})
	})
	if !ok {
		return nil, false
	}
	return stored, true
}

// DecodesHere is called by a reflector that decodes the objects itself. A transform may write into
// an object, so with a transform its values are shared only after the transform has run.
func (s *informerSink) DecodesHere() (t *share.Table, values bool) {
	table := s.core.sharing.table
	if table == nil || s.core.options.Transform == nil {
		return table, true
	}
	s.pass = sharepass.New(table)
	return share.New(s.core.options.ShareBytes), false
}

func (s *informerSink) Begin(ctx context.Context, h reflector.History) error {
	s.staged, s.stagedKeys = true, nil
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Begin, Fresh: h == reflector.NewHistory, Anew: s.afresh.Load()})
}

func (s *informerSink) Commit(ctx context.Context, version string) error {
	s.core.status.confirmed(s.part)
	return s.commit(ctx, version)
}

func (s *informerSink) Abort(ctx context.Context) error {
	s.staged, s.stagedKeys = false, nil
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Abort})
}

func (s *informerSink) push(ctx context.Context, d deltafifo.Delta) error {
	d.Part = s.part
	return s.run.queue.Push(ctx, d)
}

func (s *informerSink) Write(ctx context.Context, batch []deltafifo.Delta) error {
	s.batch, s.transformed = batch, 0
	return s.write(ctx)
}

// Resume continues with a batch after the transform has ended the goroutine. The object given to
// the transform is quarantined.
func (s *informerSink) Resume(ctx context.Context) error {
	d := &s.batch[s.transformed-1]
	if !s.transformReturned(d) {
		return ErrStopped
	}
	s.quarantine(d, fmt.Errorf("%w: %w", ErrTransform, indexer.ErrGoexit))
	return s.write(ctx)
}

// write prepares the rest of the batch, and queues it.
func (s *informerSink) write(ctx context.Context) error {
	transform, batch := s.core.options.Transform, s.batch
	for i := s.transformed; i < len(batch); i++ {
		d := &batch[i]
		d.Part, d.Stamp = s.part, stampOf(d.UID)
		switch {
		case d.Op == deltafifo.Bookmark || d.Recalled:
		case d.Op == deltafifo.Poisoned || d.Lost: // it could not be decoded
			d.Key = s.storedKey(d.Key)
			if err, ok := d.Object.(error); ok && !d.Lost {
				d.Object = undecodable(err)
			}
		case transform != nil:
			s.transformed = i + 1
			if err := s.transform(d, transform); err != nil {
				return err
			}
		}
	}
	s.batch = nil
	if inspect := s.core.hooks.inspect; inspect != nil {
		inspect(batch)
	}
	if n := len(batch); n > 0 && !s.staged { // pages of a full state tell nothing until it is whole
		s.heard(&batch[n-1])
	}
	return s.run.queue.Push(ctx, batch...)
}

// heard notes that the source has sent something. A bookmark without a version comes from the
// source itself: a new watch has brought all changes since the previous run.
func (s *informerSink) heard(last *deltafifo.Delta) {
	if last.Op == deltafifo.Bookmark && last.Version == "" {
		s.core.status.confirmed(s.part)
		return
	}
	s.core.status.received(s.part, last.Op == deltafifo.Bookmark)
}

// transform prepares the object of one delta. If the transform fails, the object is quarantined; a
// delete is applied all the same. The transform may end the goroutine. transform returns
// [ErrStopped] if the run ended before the user's function was called or returned.
func (s *informerSink) transform(d *deltafifo.Delta, transform func(any) (any, error)) error {
	s.transforming.Store(&d.Key) // first: the end of the run looks at it after stopping
	if s.run.stopping.Load() {
		s.transformReturned(d)
		return ErrStopped
	}
	obj, err := s.core.guarded(transform, d.Object)
	switch {
	case !s.transformReturned(d):
		return ErrStopped
	case err != nil:
		s.quarantine(d, err)
	default:
		s.transformedTo(d, obj)
	}
	return nil
}

// transformedTo stores the result of the transform in the delta.
func (s *informerSink) transformedTo(d *deltafifo.Delta, obj any) {
	if s.pass != nil {
		s.sharePassed(d.Key, d.Object, obj)
	}
	d.Object = obj
	if identityOf(obj) != (identity{d.UID, d.Version}) {
		s.core.rewritesIdentity.Store(true)
	}
	// The key is computed from the transformed object, as every reader of the store computes it.
	// UID and version stay those of the server.
	if key, ok := keyOf(obj); ok && key != d.Key {
		s.rename(d.Op, d.Key, key)
		d.Key = key
	}
}

// quarantine drops an object that cannot be prepared, and reports it.
func (s *informerSink) quarantine(d *deltafifo.Delta, err error) {
	key := d.Key
	d.Object, d.Key = nil, s.storedKey(key)
	if d.Op == deltafifo.Deleted {
		d.Lost = true
	} else {
		d.Op, d.Object = deltafifo.Poisoned, err
	}
	told := &QuarantineError{Key: key, Err: err}
	if errors.Is(err, ErrType) {
		s.core.status.refused(told)
	}
	s.core.observe(told)
}

// sharePassed lets an object share values after its transform.
func (s *informerSink) sharePassed(key indexer.Key, decoded, result any) {
	if table := s.core.sharing.table; table.Watched() {
		table.Name(key.String)
	}
	s.pass.Share(decoded, result)
}

// rename records that the transform has changed a key.
func (s *informerSink) rename(op deltafifo.Op, from, to indexer.Key) {
	if op == deltafifo.Deleted {
		delete(s.storedKeys, from)
		return
	}
	s.core.renames.Store(true)
	known := &s.storedKeys
	if s.staged {
		known = &s.stagedKeys
	}
	if *known == nil {
		*known = make(map[indexer.Key]indexer.Key)
	}
	(*known)[from] = to
}

// storedKey returns the key under which an object is stored, for an object that cannot be
// transformed now.
func (s *informerSink) storedKey(key indexer.Key) indexer.Key {
	to, ok := s.storedKeys[key]
	if !ok {
		return key
	}
	if s.staged {
		s.rename(deltafifo.Added, key, to)
	}
	return to
}

// guarded calls a transform. It returns a panic, or a result that cannot be stored, as an error.
func (c *core) guarded(transform func(any) (any, error), obj any) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: panic: %v", ErrTransform, p)
		}
	}()
	if result, err = transform(obj); err != nil {
		return result, fmt.Errorf("%w: %w", ErrTransform, err)
	}
	keyOf(result) // a typed nil panics here
	if err := c.objects.refuse(result); err != nil {
		return result, fmt.Errorf("%w: %w", ErrTransform, err)
	}
	return result, nil
}
