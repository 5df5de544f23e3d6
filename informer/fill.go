package informer

import (
	"context"
	"fmt"
	"reflect"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// State is what a source held at a resourceVersion: all objects of a list, as the server
// sent them, and the version of the list. The zero value says nothing of a source.
type State[T any] struct {
	Version string
	Objects []T
}

// Fill fills the store before the first Run with what the sources held once, a State for
// each source in the order of [Join]: from a file, say, or from another program's store.
//
// The objects go through the transform, and are shown when Run has been called; handlers are
// told them as initial. The informer then watches each source from its version on, and
// Synced is closed when that watch has brought all that has changed since, as
// [Informer.WaitFresh] says. Where the version has expired,
// or the source is a fake that says so, which keeps no history, a full state is read as ever: what
// differs is told as changed, and what is gone as deleted. A fake behind bare functions is taken
// for a server: what it held otherwise is found out after 90 seconds without an event. The
// objects are the informer's from now on.
//
// It returns [ErrState] where a state has objects and no version, or the states are not as
// many as the sources; [ErrType] for an object that the informer does not hold; [ErrRunning] or
// [ErrStopped] after Run; or what was wrong with the arguments of New.
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

// refuseState returns why a state cannot be what a source held, nil if it can.
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

// fillIn writes what a user has filled the store with. Called again where the transform has
// ended the goroutine, it goes on.
func (s *intake) fillIn() error {
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

// nextToFill returns the next objects to fill the store with.
func (s *intake) nextToFill() (batch []deltafifo.Delta) {
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

// commit ends a full state, whoever has told it.
func (s *intake) commit(ctx context.Context, version string) error {
	s.staged, s.storedKeys, s.stagedKeys = false, s.stagedKeys, nil
	s.afresh.Store(false)
	return s.push(ctx, deltafifo.Delta{Op: deltafifo.Commit, Version: version})
}
