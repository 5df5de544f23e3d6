package factory

import (
	"context"
	"slices"
)

// starts holds the contexts that Start was given and that have not ended. Where two end
// together, it keeps the later one. It watches them only while leased informers run, since
// watching a context may take a goroutine.
//
// Invariant: unwatches is empty, or has the same length as live.
type starts struct {
	live      []context.Context
	unwatches []func() bool
	watchers  int // the runs that last until all of them have ended
	ended     func()
}

// some tells whether one of them has not ended.
func (s *starts) some() bool {
	return slices.ContainsFunc(s.live, func(ctx context.Context) bool { return ctx.Err() == nil })
}

// add adds a context, and forgets those that have ended, or end with it: a program may
// call Start with the same one, or the same channel, for ever.
func (s *starts) add(ctx context.Context) {
	watched := s.watchers > 0
	s.leave()
	s.live = slices.DeleteFunc(s.live, func(known context.Context) bool {
		return known.Err() != nil || known.Done() == ctx.Done()
	})
	s.live = append(s.live, ctx)
	if watched {
		s.follow()
	}
}

// values returns a context with the values of the last one, which never ends.
func (s *starts) values() context.Context {
	return context.WithoutCancel(s.live[len(s.live)-1])
}

// watch lets ended be called when one of them ends, until unwatch is called as often
// as watch.
func (s *starts) watch(ended func()) {
	s.ended = ended
	if s.watchers++; s.watchers == 1 {
		s.follow()
	}
}

func (s *starts) unwatch() {
	if s.watchers--; s.watchers == 0 {
		s.leave()
	}
}

func (s *starts) follow() {
	for _, ctx := range s.live {
		s.unwatches = append(s.unwatches, context.AfterFunc(ctx, s.ended))
	}
}

func (s *starts) leave() {
	for _, unwatch := range s.unwatches {
		unwatch()
	}
	s.unwatches = nil
}
