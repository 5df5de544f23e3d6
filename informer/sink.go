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

// intake is the sink that a reflector writes to: it prepares each object on
// the reflector's goroutine, with no lock held, and queues it.
type informerSink struct {
	core      *core
	run       *run
	part      uint16
	replacing bool // a full state is arriving
	// afresh says that what is stored is not to be trusted, until a full state is
	// committed that holds none of it.
	untrusted atomic.Bool
	// pass shares the values of objects after the transform; nil where there is
	// none, or where the objects are not the informer's alone.
	pass *sharepass.Pass

	// fill is what a user has filled the store with, nil once it was written, and filled
	// how many of its objects were.
	fill   *State[any]
	filled int

	// renamed has the keys that the transform has changed, by those that the
	// server knows, for what cannot be transformed later. That of the full
	// state that is arriving replaces it in the end.
	storedKeys, nextStoredKeys map[indexer.Key]indexer.Key

	// The batch that is being written, and up to where the transform was called.
	batch       []deltafifo.Delta
	transformed int
	// transforming is the key of the object that the transform is called with, nil
	// outside of it. Who sets it to nil has what becomes of the object: the reflector's
	// goroutine or, where the transform did not return in time at the end of the run,
	// who abandons the sink. What the transform brings later is dropped.
	transforming atomic.Pointer[indexer.Key]
	abandoned    chan struct{} // closed when the sink is abandoned; nil without a transform
}

// newIntake returns the sink of a part in a run. Nothing of the run goes on yet.
func newInformerSink(c *core, run *run, part uint16) *informerSink {
	s := &informerSink{core: c, run: run, part: part}
	p := &c.parts[part]
	p.untrusted = p.untrusted || run.options.Anew || closed(c.sharing.broken) && !p.replacedSinceBroken
	if p.untrusted {
		p.fill = nil
	}
	s.fill = p.fill
	s.untrusted.Store(p.untrusted)
	if c.options.Transform != nil {
		s.abandoned = make(chan struct{})
	}
	return s
}

// abandon gives up a sink whose transform is running, and returns the key of its object.
func (s *informerSink) abandon() (key indexer.Key, stuck bool) {
	running := s.transforming.Load()
	if running == nil || !s.transforming.CompareAndSwap(running, nil) {
		return key, false
	}
	key = *running // the reflector's goroutine waits
	close(s.abandoned)
	return key, true
}

// back is called when the transform has returned for an object, or ended the goroutine. It
// returns false where the sink is abandoned.
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
	_ reflector.Resumer  = (*informerSink)(nil)
)

// Recall returns what is stored of an object, transformed as it is. Where the
// transform has ever changed an identity, stored objects do not tell the server's; nor
// does one that was put by hand.
func (s *informerSink) Recall(key indexer.Key, uid, version string) (stored any, ok bool) {
	stored, ok = s.core.writer.Stored(key)
	if !ok || s.untrusted.Load() || s.core.rewritesIdentity.Load() || identityOf(stored) != (identity{uid, version}) {
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

// DecodesHere is called by a reflector that decodes the objects itself. With a
// transform, which may write into them, values are shared when it has run.
func (s *informerSink) DecodesHere() (t *share.Table, values bool) {
	table := s.core.sharing.table
	if table == nil || s.core.options.Transform == nil {
		return table, true
	}
	s.pass = sharepass.New(table)
	return share.New(s.core.options.ShareBytes), false
}

func (s *informerSink) Begin(ctx context.Context, h reflector.History) error {
	s.replacing, s.nextStoredKeys = true, nil
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Begin, Fresh: h == reflector.NewHistory, Anew: s.untrusted.Load()})
}

func (s *informerSink) Commit(ctx context.Context, version string) error {
	s.core.status.confirmed(s.part)
	return s.commit(ctx, version)
}

func (s *informerSink) Abort(ctx context.Context) error {
	s.replacing, s.nextStoredKeys = false, nil
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

// Resume goes on with a batch in which the transform has ended the goroutine. The
// object that it was called with is quarantined.
func (s *informerSink) Resume(ctx context.Context) error {
	d := &s.batch[s.transformed-1]
	if !s.endTransform(d) {
		return ErrStopped
	}
	s.quarantine(d, fmt.Errorf("%w: %w", ErrTransform, indexer.ErrGoexit))
	return s.write(ctx)
}

// write prepares what is left of the batch, and queues it.
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
	if n := len(batch); n > 0 && !s.replacing { // pages of a full state tell nothing until it is whole
		s.noteReceived(&batch[n-1])
	}
	return s.run.queue.Push(ctx, batch...)
}

// heard notes what the source has said. A bookmark without a version tells that a watch
// has brought what changed since the run before: the source has opened that watch.
func (s *informerSink) noteReceived(last *deltafifo.Delta) {
	if last.Op == deltafifo.Bookmark && last.Version == "" {
		s.core.status.confirmed(s.part)
		return
	}
	s.core.status.received(s.part, last.Op == deltafifo.Bookmark)
}

// transform prepares the object of one delta. Where that fails the object is
// quarantined; a delete is a delete all the same. It may end the goroutine. It returns
// [ErrStopped] where the run was over before the transform was called, or returned.
func (s *informerSink) transform(d *deltafifo.Delta, transform func(any) (any, error)) error {
	s.transforming.Store(&d.Key) // first: the end of the run looks at it after stopping
	if s.run.stopping.Load() {
		s.endTransform(d)
		return ErrStopped
	}
	obj, err := s.core.callTransform(transform, d.Object)
	switch {
	case !s.endTransform(d):
		return ErrStopped
	case err != nil:
		s.quarantine(d, err)
	default:
		s.transformedTo(d, obj)
	}
	return nil
}

// transformedTo takes over what the transform has made of an object.
func (s *informerSink) transformedTo(d *deltafifo.Delta, obj any) {
	if s.pass != nil {
		s.sharePassed(d.Key, d.Object, obj)
	}
	d.Object = obj
	if identityOf(obj) != (identity{d.UID, d.Version}) {
		s.core.rewritesIdentity.Store(true)
	}
	// The key is what the stored object says, so that whoever computes it
	// from the object finds it. UID and version stay what the server sent.
	if key, ok := keyOf(obj); ok && key != d.Key {
		s.setStoredKey(d.Op, d.Key, key)
		d.Key = key
	}
}

// quarantine lets go of an object that cannot be prepared.
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

// rename notes that the transform has changed a key.
func (s *informerSink) setStoredKey(op deltafifo.Op, from, to indexer.Key) {
	if op == deltafifo.Deleted {
		delete(s.storedKeys, from)
		return
	}
	s.core.rewritesKeys.Store(true)
	known := &s.storedKeys
	if s.replacing {
		known = &s.nextStoredKeys
	}
	if *known == nil {
		*known = make(map[indexer.Key]indexer.Key)
	}
	(*known)[from] = to
}

// storedKey returns the key under which an object is stored that cannot be
// transformed any more.
func (s *informerSink) storedKey(key indexer.Key) indexer.Key {
	to, ok := s.storedKeys[key]
	if !ok {
		return key
	}
	if s.replacing {
		s.setStoredKey(deltafifo.Added, key, to)
	}
	return to
}

// guarded calls a transform. A panic, or a result that cannot be stored, is an
// error.
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
	return result, nil
}
