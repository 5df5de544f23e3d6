package engine

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// pending is what a wait still waits for. The zero value means that the condition holds.
type pending struct {
	missing error           // what is missing
	more    <-chan struct{} // closed when the condition is to be checked again
	sources []uint16        // that can provide it; nil for all
}

// nudgeEvery is the period in which a wait calls its nudge while its condition does not hold.
const nudgeEvery = time.Second

// await is the loop of all waits. It waits until holds returns the zero value or an error, the informer
// stops, or ctx ends. It calls holds first, and once more at the end, so it returns nil if the condition
// holds already. nudge may be nil.
func (c *Core) await(ctx context.Context, holds func() (pending, error), nudge func()) error {
	if err := c.Misused(); err != nil {
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
		over := closed(c.stopped) || ctx.Err() != nil // read before the last call of holds
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

// reason returns why a wait ended without what is missing: ctx has ended, or the informer has stopped. If
// both have ended, the context's error says more.
func (c *Core) reason(ctx context.Context, missing error) error {
	switch {
	case ctx.Err() == nil:
		return ErrStopped
	case !c.Began():
		return fmt.Errorf("%w: it was not started: %w", missing, context.Cause(ctx))
	}
	return fmt.Errorf("%w: %w", missing, context.Cause(ctx))
}

// failed returns the error of a wait: the name of the informer, the reason, and the error that ended the run
// or the last error of the sources that could provide what is missing.
func (c *Core) failed(reason error, sources []uint16) error {
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

// WaitSynced waits until the store is complete.
func (c *Core) WaitSynced(ctx context.Context) error {
	return c.await(ctx, func() (pending, error) {
		if c.IsSynced() {
			return pending{}, nil
		}
		return pending{missing: ErrNotSynced, more: c.synced}, nil
	}, nil)
}

// WaitFor waits until the store shows an object as a write returned it, or a newer version.
func (c *Core) WaitFor(ctx context.Context, obj any) error {
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
func (c *Core) upToFor(namespace, version string, history uint64) (pending, error) {
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

// WaitDelivered waits until the store holds every change up to a resourceVersion, and each handler has got
// it.
func (c *Core) WaitDelivered(ctx context.Context, version string) error {
	history, points := c.versions.history(), make([]point, len(c.sources))
	for i := range points {
		points[i] = point{uint16(i), version, history} //nolint:gosec // at most maxSources
	}
	if err := c.await(ctx, func() (pending, error) { return c.upTo(points) }, nil); err != nil {
		return err
	}
	handlers := c.processor.All()
	for _, r := range handlers {
		r.Progress.Join()
	}
	defer func() {
		for _, r := range handlers {
			r.Progress.Leave()
		}
	}()
	position := c.log.End() // after Join: each handler then publishes its progress before it delivers a later event
	return c.await(ctx, func() (pending, error) {
		for _, r := range handlers {
			if more := r.Until(position); more != nil {
				return pending{missing: fmt.Errorf("handler %q has undelivered events", r.Name()), more: more}, nil
			}
		}
		return pending{}, nil
	}, nil)
}
