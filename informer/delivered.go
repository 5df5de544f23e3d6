package informer

import (
	"context"
	"fmt"
)

// WaitDelivered waits until the store holds every change up to a resourceVersion, and then until each
// registered handler has been told everything published so far: a test that has written an object can
// then check the outcome. With several sources, all have to reach the version. WaitDelivered does not wait
// for later events, for a resync, or for a handler that is stopped meanwhile. A handler that calls it waits
// for itself.
//
// It returns [ErrVersion] if the version cannot be compared with the store's.
func (i *Informer[T]) WaitDelivered(ctx context.Context, version string) error {
	return i.core.WaitDelivered(ctx, version)
}

// WaitDelivered is [Informer.WaitDelivered].
func (c *core) WaitDelivered(ctx context.Context, version string) error {
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
	position := c.log.End() // after Join: the handlers publish their progress before each event behind it
	return c.await(ctx, func() (pending, error) {
		for _, r := range handlers {
			if more := r.Until(position); more != nil {
				return pending{missing: fmt.Errorf("handler %q is not told everything", r.Name()), more: more}, nil
			}
		}
		return pending{}, nil
	}, nil)
}
