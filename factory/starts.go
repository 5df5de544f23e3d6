package factory

import (
	"context"
	"slices"
)

// starts holds the contexts given to Start that have not ended. Of two contexts that end
// together, it keeps the later one. It watches the contexts only while informers run, because
// watching a context may take a goroutine.
//
// Invariant: unwatches is empty, or has the same length as live.
type starts struct {
	live      []context.Context
	unwatches []func() bool
	watchers  int // informers that run
	ended     func()
}

// lives reports whether a context given to Start has not ended. It returns false for nil.
func lives(ctx context.Context) bool { return ctx != nil && ctx.Err() == nil }

// latest returns the last of the contexts that have not ended, or nil if all have.
func (s *starts) latest() context.Context {
	for _, ctx := range slices.Backward(s.live) {
		if lives(ctx) {
			return ctx
		}
	}
	return nil
}

// add adds a context and removes the contexts that have ended or end together with it: a program
// may call Start with the same context or channel any number of times.
func (s *starts) add(ctx context.Context) {
	watched := s.watchers > 0
	s.unwatchAll()
	s.live = slices.DeleteFunc(s.live, func(known context.Context) bool {
		return known.Err() != nil || known.Done() == ctx.Done()
	})
	s.live = append(s.live, ctx)
	if watched {
		s.watchAll()
	}
}

// watch makes a context's end call ended, until unwatch has been called as often as watch.
func (s *starts) watch(ended func()) {
	s.ended = ended
	if s.watchers++; s.watchers == 1 {
		s.watchAll()
	}
}

func (s *starts) unwatch() {
	if s.watchers--; s.watchers == 0 {
		s.unwatchAll()
	}
}

// watchAll calls ended when one of the contexts ends.
func (s *starts) watchAll() {
	for _, ctx := range s.live {
		s.unwatches = append(s.unwatches, context.AfterFunc(ctx, s.ended))
	}
}

// unwatchAll undoes watchAll.
func (s *starts) unwatchAll() {
	for _, unwatch := range s.unwatches {
		unwatch()
	}
	s.unwatches = nil
}
