package informer

import (
	"context"
	"fmt"
	"reflect"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// State is the content of a source at a resourceVersion: all objects of a list, as the server sent
// them, and the version of the list. The zero value stands for an unknown state.
type State[T any] struct {
	Version string
	Objects []T
}

// Fill fills the store before the first Run with an earlier state of its sources: from a file, say,
// or from another program's store. It takes one State for each source in the order of [Join].
//
// The objects go through the transform, and show in the store after Run was called. Handlers are
// told of them as initial. The informer then watches each source from its version on. Synced is
// closed when this watch has brought all changes since, as in [Informer.WaitFresh]. If the version
// has expired, or the source is a fake that reports to keep no history, the informer reads a full
// state as usual: it tells handlers each difference as an update or a delete. A fake behind bare
// functions counts as a server, so its differences are found only after 90 seconds without an
// event. The objects belong to the informer from now on.
//
// It returns [ErrState] if a state has objects and no version, or if the number of states is not
// that of the sources; [ErrType] for an object of another type; [ErrRunning] or [ErrStopped] after
// Run; or the error in the arguments of New.
func (i *Informer[T]) Fill(states ...State[T]) error {
	var untyped []State[any]
	for _, state := range states {
		objects := make([]any, len(state.Objects))
		for n, obj := range state.Objects {
			objects[n] = obj
		}
		untyped = append(untyped, State[any]{state.Version, objects})
	}
	return i.core.fill(untyped)
}

func (c *core) fill(states []State[any]) error {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case c.misuse != nil:
		return c.misused()
	case c.phase == running:
		return fmt.Errorf("informer %s: the store is filled before Run: %w", c.options.Name, ErrRunning)
	case c.phase == stopped:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	case len(states) != len(c.sources):
		return fmt.Errorf("informer %s: %w: %d for %d sources", c.options.Name, ErrState, len(states), len(c.sources))
	}
	for i := range states {
		if err := c.refuseState(&states[i]); err != nil {
			return fmt.Errorf("informer %s: %w", c.options.Name, err)
		}
	}
	for i := range states {
		c.parts[i].fill = nil
		if states[i].Version != "" {
			c.parts[i].fill = &states[i]
		}
	}
	return nil
}

// refuseState returns the reason why a state cannot be the content of a source, nil if it can.
func (c *core) refuseState(s *State[any]) error {
	if s.Version == "0" || s.Version == "" && len(s.Objects) > 0 {
		return fmt.Errorf("%w: %d objects at version %q", ErrState, len(s.Objects), s.Version)
	}
	for _, obj := range s.Objects {
		if err := c.objects.refuse(obj); err != nil {
			return err
		}
		if object.Meta(obj) == nil || reflect.ValueOf(obj).IsZero() {
			return fmt.Errorf("%w: %T without metadata", ErrType, obj)
		}
	}
	return nil
}

// fillIn writes a user's state. If the transform ends the goroutine, it is called again and
// continues with the rest.
func (s *informerSink) fillIn() error {
	ctx := s.run.ctx
	if s.batch == nil {
		if err := s.Begin(ctx, reflector.SameHistory); err != nil {
			return err
		}
	} else if err := s.Resume(ctx); err != nil {
		return err
	}
	for s.filled < len(s.fill.Objects) {
		if err := s.Write(ctx, s.nextToFill()); err != nil {
			return err
		}
	}
	version := s.fill.Version
	s.fill = nil
	return s.commit(ctx, version)
}

// nextToFill returns the next objects of the user's state.
func (s *informerSink) nextToFill() (batch []deltafifo.Delta) {
	for s.filled < len(s.fill.Objects) && len(batch) < maxSection {
		obj := s.fill.Objects[s.filled]
		s.filled++
		m := object.Meta(obj)
		batch = append(batch, deltafifo.Delta{
			Op: deltafifo.Added, Key: object.Key(m), UID: string(m.GetUID()), Version: m.GetResourceVersion(), Object: obj,
		})
	}
	return batch
}

// commit ends a full state, from the source or from a user.
func (s *informerSink) commit(ctx context.Context, version string) error {
	s.staged, s.storedKeys, s.stagedKeys = false, s.stagedKeys, nil
	s.afresh.Store(false)
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Commit, Version: version})
}
