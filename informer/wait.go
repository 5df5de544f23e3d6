package informer

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// pending is what a wait still waits for. The zero value means that its condition holds.
type pending struct {
	missing error           // says what is not there yet
	more    <-chan struct{} // closed when the condition is to be asked for again
	sources []uint16        // bring it; nil for all
}

// nudgeEvery is how often a wait calls its nudge while its condition does not hold.
const nudgeEvery = time.Second

// await waits until holds returns the zero value or an error, the informer stops, or ctx ends. It is the loop of
// all waits. holds is asked first, and once more at the end, so a condition that holds already is no error. nudge
// may be nil.
func (c *core) await(ctx context.Context, holds func() (pending, error), nudge func()) error {
	if err := c.misused(); err != nil {
		return err
	}
	c.versions.Join()
	defer c.versions.Leave()
	var tick <-chan time.Time
	if nudge != nil {
		ticker := time.NewTicker(nudgeEvery)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		over := closed(c.stopped) || ctx.Err() != nil // before holds is asked for the last time
		p, err := holds()
		switch {
		case err != nil:
			return c.failed(err, p.sources)
		case p.more == nil:
			return nil
		case over:
			return c.failed(c.reason(ctx, p.missing), p.sources)
		}
		select {
		case <-p.more:
		case <-tick:
			nudge()
		case <-c.stopped:
		case <-ctx.Done():
		}
	}
}

// reason returns why a wait has ended without what is missing: ctx has ended, or else the informer has stopped. A
// context that ends both says more.
func (c *core) reason(ctx context.Context, missing error) error {
	switch {
	case ctx.Err() == nil:
		return ErrStopped
	case !c.wasStarted():
		return fmt.Errorf("%w: it was not started: %w", missing, context.Cause(ctx))
	}
	return fmt.Errorf("%w: %w", missing, context.Cause(ctx))
}

// wasStarted reports whether the run has begun.
func (c *core) wasStarted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.phase != created
}

// failed returns the error of a wait: the name of the informer, the reason, and the last error of the sources that
// were to bring what is missing, or the error that has ended the run.
func (c *core) failed(reason error, sources []uint16) error {
	err := fmt.Errorf("informer %s: %w", c.options.Name, reason)
	last := c.exitError()
	if last == nil {
		last = c.status.lastErrorOf(sources)
	}
	if last == nil {
		return err
	}
	return fmt.Errorf("%w; last error: %w", err, last)
}

// WaitSynced is [Informer.WaitSynced].
func (c *core) WaitSynced(ctx context.Context) error {
	return c.await(ctx, func() (pending, error) {
		if c.isSynced() {
			return pending{}, nil
		}
		return pending{missing: ErrNotSynced, more: c.synced}, nil
	}, nil)
}

// WaitFor waits until the store shows an object as a write has returned it, or a newer version: a
// caller reads its own writes. The store shows a write by its event or, if the informer does not read
// the object, by the next event or bookmark. With several sources, WaitFor waits only for those whose
// namespace is the object's (see [reflector.Source]), and for none once the object itself has come.
//
// It returns [ErrVersion] if the object's version cannot be compared with the store's, [ErrQuarantined] if
// this version of the object or a later one could not be prepared, [ErrType] for an object without
// metadata, and [ErrNoSource] if no source reads the object's namespace.
func (i *Informer[T]) WaitFor(ctx context.Context, obj T) error { return i.core.WaitFor(ctx, obj) }

// WaitFor is [Informer.WaitFor].
func (c *core) WaitFor(ctx context.Context, obj any) error {
	m := object.Meta(obj)
	if m == nil || reflect.ValueOf(obj).IsZero() {
		return fmt.Errorf("informer %s: wait for %T: %w", c.options.Name, obj, ErrType)
	}
	key, version, history := object.Key(m), m.GetResourceVersion(), c.versions.history()
	err := c.await(ctx, func() (pending, error) {
		p, err := c.upToFor(key.Namespace, version, history)
		if err == nil && p.more != nil && c.shows(key, version) {
			return pending{}, nil
		}
		return p, err
	}, nil)
	if err == nil && !c.shows(key, version) && c.allQuarantined.holds(key) {
		return c.failed(fmt.Errorf("version %s of %s, or a later one: %w", cut(version), cut(key.String()), ErrQuarantined), nil)
	}
	return err
}

// upToFor is upTo for the sources that may hold objects of a namespace.
func (c *core) upToFor(namespace, version string, history uint64) (pending, error) {
	var points []point
	for i, s := range c.sources {
		if !closed(s.ready) {
			return pending{missing: errNotMade, more: s.ready}, nil
		}
		if of := s.made.Namespace; of == "" || of == namespace {
			points = append(points, point{uint16(i), version, history}) //nolint:gosec // at most maxSources
		}
	}
	if len(points) == 0 {
		return pending{}, fmt.Errorf("no source reads namespace %q: %w", namespace, ErrNoSource)
	}
	return c.upTo(points)
}
