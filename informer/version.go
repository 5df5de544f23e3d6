package informer

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/internal/object"
)

// version returns the version that the store is at: the lowest of the parts',
// "" until all have committed. The processLoop's own.
func (c *core) version() string {
	if len(c.parts) > 1 && !c.complete() {
		return ""
	}
	return c.reached.lowest()
}

// WaitVersion is [Informer.WaitVersion].
func (c *core) WaitVersion(ctx context.Context, version string) error {
	if err := c.misused(); err != nil {
		return err
	}
	c.versions.waiting.Add(1)
	defer c.versions.waiting.Add(-1)
	for {
		changed := c.versions.channel()
		if now := c.writer.Indexer().Version(); now != "" {
			order, err := resourceversion.CompareResourceVersion(version, now)
			switch {
			case err != nil:
				return fmt.Errorf("%w: %.*q with the store's %.*q", ErrVersion, object.MaxText, version, object.MaxText, now)
			case order <= 0:
				return nil
			}
		}
		select {
		case <-changed:
		case <-c.done():
			return c.status.because(ErrStopped)
		case <-ctx.Done():
			return c.status.because(fmt.Errorf("version %s is not reached: %w", version, context.Cause(ctx)))
		}
	}
}

// versionWaiters wakes those who wait for the store's version to move.
type versionWaiters struct {
	waiting atomic.Int32

	mu      sync.Mutex
	changed chan struct{}
}

// channel returns a channel that is closed when the version has moved.
func (v *versionWaiters) channel() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()

	if v.changed == nil {
		v.changed = make(chan struct{})
	}
	return v.changed
}

// wake tells the waiters, if there are any, that the version may have moved.
func (v *versionWaiters) wake() {
	if v.waiting.Load() == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()

	if v.changed != nil {
		close(v.changed)
		v.changed = nil
	}
}
