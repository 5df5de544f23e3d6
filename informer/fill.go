package informer

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// State is the state of a source at a resourceVersion: all objects of a list, as the server sent
// them, and the version of the list. The zero value means that the state is not known.
type State[T any] struct {
	Version string
	Objects []T
}

// Fill fills the store before the first Run with earlier states of the sources, one State for each
// source in the order of [Join]: from a file, for example, or from another program's store. The
// informer owns the objects from then on. Of an informer with a share, see [Options].Shard, a State holds
// all objects of the share, and what else it holds is left out.
//
// The objects go through the transform. The store shows them once Run has been called, and handlers
// get them as initial objects. The informer then watches each source from the version of its state,
// and closes Synced when that watch has brought all changes since, see [Informer.WaitFresh]. If the
// first run ends before the store shows the states, they are dropped, and the next run lists.
//
// If the version has expired, or the source is a fake that says it keeps no history, the informer
// lists all objects as usual: handlers get changed objects as updates, and missing objects as
// deletes. A fake behind bare functions counts as a server: the informer finds differences only
// after 90 seconds without an event.
//
// Fill returns [ErrState] if a state has objects and no version, or if the number of states is not
// that of the sources; [ErrType] for an object that the informer cannot hold; [ErrRunning] or
// [ErrStopped] after Run; or the error of invalid arguments of New.
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
		return fmt.Errorf("informer %s: Fill must be called before Run: %w", c.options.Name, ErrRunning)
	case c.phase == stopped:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	case len(states) != len(c.sources):
		return fmt.Errorf("informer %s: %w: %d states for %d sources", c.options.Name, ErrState, len(states), len(c.sources))
	}
	for i := range states {
		if err := c.objects.validateState(&states[i]); err != nil {
			return fmt.Errorf("informer %s: %w", c.options.Name, err)
		}
	}
	for i := range states {
		c.states[i].fill = nil
		if states[i].Version != "" {
			c.states[i].fill = &states[i]
		}
	}
	return nil
}

// validateState returns an error if a state cannot be the state of a source.
func (t *objectType) validateState(s *State[any]) error {
	if s.Version == "0" || s.Version == "" && len(s.Objects) > 0 {
		return fmt.Errorf("%w: %d objects at version %q", ErrState, len(s.Objects), s.Version)
	}
	for _, obj := range s.Objects {
		if err := t.validate(obj); err != nil {
			return err
		}
		if object.Meta(obj) == nil || reflect.ValueOf(obj).IsZero() {
			return fmt.Errorf("%w: %T without metadata", ErrType, obj)
		}
	}
	return nil
}

// writeFill writes the user's initial state to the queue.
func (s *informerSink) writeFill() error {
	ctx := s.run.Context
	if err := s.Begin(ctx, reflector.SameHistory); err != nil {
		return err
	}
	for some := range slices.Chunk(s.fill.Objects, maxSection) {
		if err := s.Write(ctx, fillDeltas(some, s.run.share)); err != nil {
			return err
		}
	}
	version := s.fill.Version
	s.fill = nil
	return s.commit(ctx, version)
}

// fillDeltas returns the deltas of those objects of the initial state that are in a share.
func fillDeltas(objects []any, share *reflector.Share) (batch []deltafifo.Delta) {
	for _, obj := range objects {
		m := object.Meta(obj)
		if share != nil && !share.Set().Has(m.GetNamespace(), m.GetUID()) {
			continue
		}
		batch = append(batch, deltafifo.Delta{
			Op: deltafifo.Added, Key: object.Key(m), UID: string(m.GetUID()), Version: m.GetResourceVersion(), Object: obj,
		})
	}
	return batch
}
