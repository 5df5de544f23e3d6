package informer

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// version returns the version of the store: the lowest version of the parts, "" until all have
// committed. Called by the processLoop only.
func (c *core) version() string {
	if len(c.parts) > 1 && !c.complete() {
		return ""
	}
	return c.reached.lowest()
}

// WaitVersion is [Informer.WaitVersion].
func (c *core) WaitVersion(ctx context.Context, version string) error {
	if err := c.waitReached(ctx, version); err != nil {
		return err
	}
	return c.prepared(version)
}

// waitReached waits until the store is at a version, even if the object of this version is
// quarantined.
func (c *core) waitReached(ctx context.Context, version string) error {
	return c.waitVersion(ctx, version, func() (bool, error) {
		return c.atLeast(c.writer.Indexer().Version, version)
	})
}

// prepared returns an error if the object of a version could not be prepared.
func (c *core) prepared(version string) error {
	if key, ok := c.quarantined.at(version); ok {
		return fmt.Errorf("version %s, of %.*q: %w", version, object.MaxText, key, ErrQuarantined)
	}
	return nil
}

// WaitFor waits until the store holds an object as returned by a write, or a newer version of it:
// read your writes. Unlike [Informer.WaitVersion] it takes the object. So with several sources it
// waits only for the ones that may hold the object, by their namespaces (see [reflector.Scoped]),
// and for none once the object itself has come.
//
// It returns the errors of WaitVersion, [ErrType] for an object without metadata, and [ErrNoSource]
// if no source may hold the object.
func (i *Informer[T]) WaitFor(ctx context.Context, obj T) error { return i.core.WaitFor(ctx, obj) }

// WaitFor is [Informer.WaitFor].
func (c *core) WaitFor(ctx context.Context, obj any) error {
	m := object.Meta(obj)
	if m == nil || reflect.ValueOf(obj).IsZero() {
		return fmt.Errorf("informer %s: wait for %T: %w", c.options.Name, obj, ErrType)
	}
	key, version := object.Key(m), m.GetResourceVersion()
	parts := c.partsOf(key.Namespace)
	if len(parts) == 0 {
		return fmt.Errorf("informer %s reads nothing of namespace %q: %w", c.options.Name, key.Namespace, ErrNoSource)
	}
	err := c.waitVersion(ctx, version, func() (bool, error) {
		if stored, ok := c.writer.Stored(key); ok {
			now := func() string { return identityOf(stored).version }
			if reached, err := c.atLeast(now, version); reached && err == nil {
				return true, nil
			}
		}
		for _, part := range parts {
			now := func() string { return c.versionOf(part) }
			if reached, err := c.atLeast(now, version); !reached || err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return c.prepared(version)
}

// partsOf returns the parts that may hold objects of a namespace.
func (c *core) partsOf(namespace string) (parts []uint16) {
	for i, source := range c.sources {
		if scope := reflector.NamespaceOf(source); scope == "" || scope == namespace {
			parts = append(parts, uint16(i)) //nolint:gosec // at most maxSources
		}
	}
	return parts
}

// versionOf returns the version of a part. Safe for any goroutine.
func (c *core) versionOf(part uint16) string {
	if len(c.parts) == 1 {
		return c.writer.Indexer().Version()
	}
	return c.reached.now(part)
}

// atLeast reports whether a version of the store, or of a part, is at least another one. Before the
// first full state there is no version; if there is none after it, there never will be.
func (c *core) atLeast(version func() string, other string) (bool, error) {
	synced := c.isSynced() // first: the version is set before synced is closed
	now := version()
	if now == "" && !synced {
		return false, nil
	}
	order, err := resourceversion.CompareResourceVersion(other, now)
	if err != nil {
		return false, fmt.Errorf("%w: %.*q with the store's %.*q", ErrVersion, object.MaxText, other, object.MaxText, now)
	}
	return order <= 0, nil
}

// waitVersion calls reached after each move of the store's version, until it returns true.
func (c *core) waitVersion(ctx context.Context, version string, reached func() (bool, error)) error {
	if err := c.misused(); err != nil {
		return err
	}
	c.versions.waiting.Add(1)
	defer c.versions.waiting.Add(-1)
	for {
		changed := c.versions.channel()
		switch done, err := reached(); {
		case err != nil:
			return err
		case done:
			return nil
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

// versionWaiters wakes callers that wait for the store's version to move.
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

// wake wakes the waiters, if any: the version may have moved.
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
