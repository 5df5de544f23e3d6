package cache

import (
	"context"
	"fmt"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// storeSink lets a reflector write to a client-go store. It collects a full state, and then replaces the
// store's content in one call. If the store refuses a single change, the sink reports the change and leaves
// it out.
type storeSink struct {
	storeSettings

	// Owned by the reflector's goroutine. Invariant: places maps each object to its index in listed.
	staged bool
	listed []any
	places map[sourceObject]int
	begun  bool // whether the resyncs have begun
	run    *storeRun
}

// sourceObject identifies an object of the source. Two objects with the same name are different if their UIDs
// differ. The store's own key function may distinguish them, for example by cluster.
type sourceObject struct {
	key indexer.Key
	uid string
}

var _ reflector.Sink = (*storeSink)(nil)

// Begin starts to collect a full state. The first Begin also starts the resyncs.
func (s *storeSink) Begin(ctx context.Context, _ reflector.History) error {
	s.staged, s.listed, s.places = true, nil, make(map[sourceObject]int)
	if !s.begun && s.resync > 0 {
		s.begun = true
		s.run.resyncs.Go(func() { // ends with ctx, as Run does
			ended := fmt.Errorf("resync %s: %w", s.name, indexer.ErrExited)
			defer func() { s.run.end(ended) }()
			s.resyncs(ctx)
			ended = nil
		})
	}
	return nil
}

func (s *storeSink) Write(_ context.Context, batch []deltafifo.Delta) error {
	for i := range batch {
		d := &batch[i]
		if s.staged {
			s.collect(d)
			continue
		}
		if err := s.change(d); err != nil { // the store refuses the change
			s.observe(&informer.QuarantineError{Key: d.Key, Err: err})
		}
		s.reach(d)
	}
	return nil
}

// collect adds a delta of a full state. Only the UID shows that an added object has been collected before, as
// in a list with overlapping pages. Without UIDs, the store gets both objects.
func (s *storeSink) collect(d *deltafifo.Delta) {
	id := sourceObject{d.Key, d.UID}
	i, known := s.places[id]
	switch {
	case d.Op == deltafifo.Deleted && known:
		s.listed[i] = nil // removed in Commit
		delete(s.places, id)
	case d.Op == deltafifo.Modified && known, d.Op == deltafifo.Added && known && d.UID != "":
		s.listed[i] = d.Object
	case d.Op == deltafifo.Added, d.Op == deltafifo.Modified:
		s.places[id] = len(s.listed)
		s.listed = append(s.listed, d.Object)
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

// reach passes the version of a change or bookmark to a store with a method for it, even if the store has
// refused the change. client-go's reflector does the same. An unordered change does not count (B63).
func (s *storeSink) reach(d *deltafifo.Delta) {
	if store, ok := s.store.(ResourceVersionUpdater); ok && !d.Unordered {
		store.UpdateResourceVersion(d.Version)
	}
}

// bookmark passes a version to a store, with either of client-go's two methods for it.
func (s *storeSink) bookmark(version string) error {
	switch store := s.store.(type) {
	case ReflectorBookmarkStore:
		return store.Bookmark(version)
	case interface{ Bookmark(version string) }:
		store.Bookmark(version)
	}
	return nil
}

// Commit replaces the store's content.
func (s *storeSink) Commit(_ context.Context, version string) error {
	list := make([]any, 0, len(s.listed))
	for _, obj := range s.listed {
		if obj != nil {
			list = append(list, obj)
		}
	}
	if err := s.store.Replace(list, version); err != nil {
		return fmt.Errorf("replacing %d objects: %w", len(list), err)
	}
	s.staged, s.listed, s.places = false, nil, nil
	return nil
}

// Abort discards a full state.
func (s *storeSink) Abort(context.Context) error {
	s.staged, s.listed, s.places = false, nil, nil
	return nil
}

// opResync is the operation of a resync that the store has refused. It is reported from a different goroutine
// than all other events.
const opResync = "resync"

// resyncs calls the store's Resync every period until ctx ends, even while the reflector relists or waits.
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
