package cache

import (
	"context"
	"fmt"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/goexit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// storeSink lets a reflector write to a store of client-go's kind. A full
// state is collected, as it came, and replaces the store in one call. A single
// change that the store refuses is reported and left out.
type storeSink struct {
	storeSettings

	// The reflector's goroutine's own. Invariant: places tells where in listed
	// each key is.
	staged bool
	listed []any
	places map[indexer.Key]int
	begun  bool // the resyncs
	// ordered says that changes come in the order of their versions: a watch from no
	// version begins with the objects that there are, in any order (B63).
	ordered bool
	// The batch that is being written, and how many of its deltas the store was given.
	batch []deltafifo.Delta
	given int
}

var (
	_ reflector.Sink    = (*storeSink)(nil)
	_ reflector.Resumer = (*storeSink)(nil)
)

// Begin starts to collect a full state, and with the first one the resyncs.
func (s *storeSink) Begin(ctx context.Context, _ reflector.History) error {
	s.staged, s.listed, s.places = true, nil, make(map[indexer.Key]int)
	if !s.begun && s.resync > 0 {
		s.begun = true
		go goexit.Outlive(func() { s.resyncs(ctx) }) // which ends with ctx, as Run does
	}
	return nil
}

func (s *storeSink) Write(_ context.Context, batch []deltafifo.Delta) error {
	s.batch, s.given = batch, 0
	s.write()
	return nil
}

// Resume goes on with a batch in which the store, or a function that it calls, has
// ended the goroutine. What it was given is left out.
func (s *storeSink) Resume(context.Context) error {
	s.refused(&s.batch[s.given-1], indexer.ErrGoexit)
	s.write()
	return nil
}

// write writes what is left of the batch.
func (s *storeSink) write() {
	for s.given < len(s.batch) {
		d := &s.batch[s.given]
		s.given++
		if s.staged {
			s.collect(d)
			continue
		}
		if err := s.change(d); err != nil {
			s.refused(d, err)
		}
		s.reach(d)
	}
	s.batch = nil
}

// refused reports a change that the store has refused.
func (s *storeSink) refused(d *deltafifo.Delta, err error) {
	goexit.Apart(func() { s.observe(&informer.QuarantineError{Key: d.Key, Err: err}) })
}

// collect takes one delta of a full state.
func (s *storeSink) collect(d *deltafifo.Delta) {
	i, known := s.places[d.Key]
	switch {
	case d.Op == deltafifo.Added, d.Op == deltafifo.Modified:
		if known {
			s.listed[i] = d.Object
			return
		}
		s.places[d.Key] = len(s.listed)
		s.listed = append(s.listed, d.Object)
	case d.Op == deltafifo.Deleted && known:
		s.listed[i] = nil // taken out when all is there
		delete(s.places, d.Key)
	}
}

// change makes a single change.
func (s *storeSink) change(d *deltafifo.Delta) error {
	switch d.Op {
	case deltafifo.Added:
		return s.store.Add(d.Object)
	case deltafifo.Modified:
		return s.store.Update(d.Object)
	case deltafifo.Deleted:
		return s.store.Delete(d.Object)
	case deltafifo.Bookmark:
		return s.bookmark(d.Version)
	}
	return nil
}

// reach tells the version of a change or bookmark to a store that wants to know, as
// client-go's reflector does, also where the store has refused the change.
func (s *storeSink) reach(d *deltafifo.Delta) {
	s.ordered = s.ordered || d.Op != deltafifo.Added
	if store, ok := s.store.(ResourceVersionUpdater); ok && s.ordered {
		store.UpdateResourceVersion(d.Version)
	}
}

// bookmark tells a version to a store that wants to know, in one of the two
// ways that client-go has for it.
func (s *storeSink) bookmark(version string) error {
	switch store := s.store.(type) {
	case ReflectorBookmarkStore:
		return store.Bookmark(version)
	case interface{ Bookmark(version string) }:
		store.Bookmark(version)
	}
	return nil
}

// Commit replaces what the store holds.
func (s *storeSink) Commit(_ context.Context, version string) error {
	list := make([]any, 0, len(s.places))
	for _, obj := range s.listed {
		if obj != nil {
			list = append(list, obj)
		}
	}
	if err := s.store.Replace(list, version); err != nil {
		return fmt.Errorf("replacing %d objects: %w", len(list), err)
	}
	s.staged, s.listed, s.places = false, nil, nil
	s.ordered = version != "" && version != "0"
	return nil
}

// Abort forgets a full state.
func (s *storeSink) Abort(context.Context) error {
	s.staged, s.listed, s.places = false, nil, nil
	return nil
}

// opResync is the operation of a resync that the store has refused. It is told from another
// goroutine than all else.
const opResync = "resync"

// resyncs calls the store's Resync every period until ctx ends, whatever the
// reflector is doing.
func (s *storeSink) resyncs(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.after(s.resync):
		}
		if s.due != nil && !s.due() {
			continue
		}
		if err := s.store.Resync(); err != nil {
			s.observe(reflector.Failed{Operation: opResync, Err: fmt.Errorf("resync %s: %w", s.name, err)})
		}
	}
}
