package engine

import (
	"context"
	"errors"
)

// moveCacheEvery is the number of nudges after which the newest version is asked for again. If a watch was
// opened after a change that a selector hides, a server sends no bookmark at the version of that change. The
// question moves the server's cache forward if anything else has been written to the cluster.
const moveCacheEvery = 5

// WaitFresh waits until a read of the store is as new as a read from the server at the moment of the call.
func (c *Core) WaitFresh(ctx context.Context) error {
	if err := c.await(ctx, c.watchesAll, nil); err != nil {
		return err
	}
	for {
		newest, err := c.askNewest(ctx)
		if err != nil {
			return err
		}
		if err := c.waitNewest(ctx, newest); !errors.Is(err, errNewHistory) {
			return err
		}
	}
}

// watchesAll is the condition that all sources have been read and are watched.
func (c *Core) watchesAll() (pending, error) {
	more := c.versions.Changed()
	if !c.IsSynced() {
		return pending{missing: ErrNotSynced, more: more}, nil
	}
	if source, some := c.status.unwatched(); some {
		return pending{errNotWatched, more, []uint16{source}}, nil
	}
	return pending{}, nil
}

// askNewest returns the newest version of each source.
func (c *Core) askNewest(ctx context.Context) ([]point, error) {
	var q *attempt
	var failed []uint16 // the source that failed in the last attempt
	err := c.await(ctx, func() (pending, error) {
		if q != nil && closed(q.done) {
			if q.err == nil {
				return pending{}, nil
			}
			failed, q = []uint16{q.failed}, nil
		}
		if q == nil {
			q = c.newest.next(c)
		}
		return pending{errNewest, q.done, failed}, nil
	}, nil)
	if err != nil {
		return nil, err
	}
	return q.newest, nil
}

// waitNewest waits until the store has reached the newest versions. After a second it has the reflectors ask
// for bookmarks, and from time to time it asks for the newest version again.
func (c *Core) waitNewest(ctx context.Context, newest []point) error {
	nudges := 0
	return c.await(ctx, func() (pending, error) { return c.upTo(newest) }, func() {
		if nudges++; nudges%moveCacheEvery == 0 {
			c.newest.next(c) // the answer is not needed: the question moves the server's cache
		}
		for _, p := range newest {
			if reached, err := c.hasReached(p); reached || err != nil {
				continue
			}
			if r := c.reflectors[p.source].Load(); r != nil {
				r.AskForBookmark()
			}
		}
	})
}
