package informer

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// WaitFresh waits until a read of the store is as new as a read from the server at the moment of the
// call, and then returns nil.
//
// First, the informer has to read all objects of the source, and to watch the source. Then WaitFresh asks each
// source for its newest version
// ([reflector.Newest]), and waits until the store has reached it. If nothing changes in the source, only
// a bookmark shows that, and servers send one a minute: after a second the reflector asks for one
// ([reflector.Reflector.AskForBookmark]), which takes about three. If the last change in the source was one
// that a selector or a share keeps back, a server sends none before somebody writes anything else to the
// cluster; WaitFresh then takes some seconds more. Calls at the same time share a question. The second step
// leaves out fakes, and sources whose lists have no version.
//
// To wait for a certain write, use [Informer.WaitFor], which asks the server nothing.
//
// WaitFresh returns [ErrStopped] if the informer stops first, and [ErrNotSynced] with the context's
// cause if ctx ends first; both come with the last error of a list or watch, or of the question. If the
// arguments of New were invalid, it returns that error. If a source sends no bookmarks, though it is no
// fake and its lists have versions, WaitFresh waits for its next event.
func (i *Informer[T]) WaitFresh(ctx context.Context) error { return i.core.WaitFresh(ctx) }

const (
	// askForBookmarkAfter is the time after which the reflectors of sources that are behind are asked for
	// a bookmark; they are asked again each time it has passed.
	askForBookmarkAfter = time.Second
	// moveCacheEvery is how often that has to pass before the newest version is asked for again. A server sends no
	// bookmark at the version of a change that a selector has kept back, if the watch was opened behind it. The
	// question moves the server's cache on, provided that anything else has been written to the cluster.
	moveCacheEvery = 5
)

// WaitFresh is [Informer.WaitFresh].
func (c *core) WaitFresh(ctx context.Context) error {
	if err := c.misused(); err != nil {
		return err
	}
	if err := c.waitRead(ctx); err != nil {
		return err
	}
	newest, err := c.newest.ask(ctx, c)
	if newest == nil {
		return c.notFresh(ctx, err)
	}
	return c.waitNewest(ctx, newest)
}

// waitRead waits until all sources have been read, and are watched.
func (c *core) waitRead(ctx context.Context) error {
	c.versions.waiting.Add(1)
	defer c.versions.waiting.Add(-1)
	for {
		changed := c.versions.channel()
		if c.isSynced() && c.status.watchesAll() {
			return nil
		}
		select {
		case <-changed:
		case <-c.stopped:
			return c.notFresh(ctx, nil)
		case <-ctx.Done():
			return c.notFresh(ctx, nil)
		}
	}
}

// waitNewest waits until the store has reached a version of each source. If that takes longer than a
// second, it has the reflectors ask for bookmarks, and from time to time asks for the newest version again.
func (c *core) waitNewest(ctx context.Context, newest []string) error {
	c.versions.waiting.Add(1)
	defer c.versions.waiting.Add(-1)
	late := time.NewTicker(askForBookmarkAfter)
	defer late.Stop()
	var moving []*question // nobody waits for the answers
	defer func() {
		for _, q := range moving {
			c.newest.leave(q)
		}
	}()
	for seconds := 0; ; {
		changed := c.versions.channel()
		behind := c.behind(newest)
		if len(behind) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-late.C:
			if seconds++; seconds%moveCacheEvery == 0 {
				moving = append(moving, c.newest.join(c))
			}
			for _, i := range behind {
				if r := c.reflectors[i].Load(); r != nil {
					r.AskForBookmark()
				}
			}
		case <-c.stopped:
			return c.notFresh(ctx, nil)
		case <-ctx.Done():
			return c.notFresh(ctx, nil)
		}
	}
}

// behind returns the sources that have not reached a version. Versions that cannot be compared say
// nothing.
func (c *core) behind(newest []string) (sources []uint16) {
	for i, version := range newest {
		source := uint16(i) //nolint:gosec // at most maxSources
		if order, err := resourceversion.CompareResourceVersion(version, c.versionOf(source)); err == nil && order > 0 {
			sources = append(sources, source)
		}
	}
	return sources
}

// notFresh returns the error of a wait that ended because the informer has stopped or ctx has ended. asking is the error
// of the last question, if there was one.
func (c *core) notFresh(ctx context.Context, asking error) error {
	err := fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped)
	if !closed(c.stopped) && ctx.Err() != nil {
		err = fmt.Errorf("informer %s: %w: %w", c.options.Name, ErrNotSynced, context.Cause(ctx))
	}
	err = c.status.because(err)
	if asking != nil {
		return fmt.Errorf("%w: its newest version: %w", err, asking)
	}
	return err
}
