package informer

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// version returns the store's version: the lowest version of all sources, or "" until all sources are
// complete. Only the processLoop calls it.
func (a *applier) version() string {
	if len(a.states) > 1 && !a.complete() {
		return ""
	}
	return a.reached.Lowest()
}

// waitReached waits until the store has reached a version.
func (c *core) waitReached(ctx context.Context, version string) error {
	return c.waitVersion(ctx, version, func() (bool, error) {
		return c.atLeast(c.storeVersion, version)
	})
}

// WaitFor waits until the store shows an object as a write has returned it, or a newer version: a
// caller reads its own writes. The store shows a write by its event or, if the informer does not read
// the object, by the next event or bookmark. With several sources, WaitFor waits only for those whose
// namespace is the object's (see [reflector.Scoped]), and for none once the object itself has come.
//
// It returns [ErrVersion] if the object's version cannot be compared with the store's or the source has
// no versions, [ErrQuarantined] if this version of the object or a later one could not be prepared,
// [ErrType] for an object without metadata, [ErrNoSource] if no source reads the object's namespace, and
// [ErrStopped] if the informer stops. Otherwise, the error wraps the context's cause and the last error
// of a list or watch.
func (i *Informer[T]) WaitFor(ctx context.Context, obj T) error { return i.core.WaitFor(ctx, obj) }

// WaitFor is [Informer.WaitFor].
func (c *core) WaitFor(ctx context.Context, obj any) error {
	m := object.Meta(obj)
	if m == nil || reflect.ValueOf(obj).IsZero() {
		return fmt.Errorf("informer %s: wait for %T: %w", c.options.Name, obj, ErrType)
	}
	key, version := object.Key(m), m.GetResourceVersion()
	sources, err := c.sourcesOf(ctx, key.Namespace)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return fmt.Errorf("informer %s has no source for namespace %q: %w", c.options.Name, key.Namespace, ErrNoSource)
	}
	came := false
	err = c.waitVersion(ctx, version, func() (bool, error) {
		if stored, ok := c.writer.Stored(key); ok {
			now := func() string { return records.IdentityOf(stored).Version }
			if reached, err := c.atLeast(now, version); reached && err == nil {
				came = true
				return true, nil
			}
		}
		for _, source := range sources {
			now := func() string { return c.versionOf(source) }
			if reached, err := c.atLeast(now, version); !reached || err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	if !came && c.allQuarantined.Holds(key) { // at this version or a later one: the store has an older one
		return fmt.Errorf("version %s, of %.*q, or a later one: %w", version, object.MaxText, key, ErrQuarantined)
	}
	return nil
}

// namespaces are the namespaces of an informer's sources, "" for all or unknown. They are asked for
// once, on a goroutine of its own: the call may make a user's source.
type namespaces struct {
	asked sync.Once
	known chan struct{} // closed when of is complete
	of    []string
}

// ask asks the sources for their namespaces. A source that panics has none that is known; neither has
// one that ends the goroutine, nor those after it.
func (n *namespaces) ask(sources []reflector.Source) {
	n.known, n.of = make(chan struct{}), make([]string, len(sources))
	go func() {
		defer close(n.known)
		for i, source := range sources {
			func() {
				defer func() { _ = recover() }() // the source's requests report it
				n.of[i] = reflector.NamespaceOf(source)
			}()
		}
	}()
}

// namespacesOf returns the namespaces of the sources.
func (c *core) namespacesOf(ctx context.Context) ([]string, error) {
	c.namespaces.asked.Do(func() { c.namespaces.ask(c.sources) })
	select {
	case <-c.namespaces.known:
		return c.namespaces.of, nil
	case <-ctx.Done():
		return nil, c.status.because(fmt.Errorf("a source does not say which namespace it reads: %w", context.Cause(ctx)))
	}
}

// sourcesOf returns the sources that may hold objects of a namespace.
func (c *core) sourcesOf(ctx context.Context, namespace string) (sources []uint16, err error) {
	all, err := c.namespacesOf(ctx)
	if err != nil {
		return nil, err
	}
	for i, scope := range all {
		if scope == "" || scope == namespace {
			sources = append(sources, uint16(i)) //nolint:gosec // at most maxSources
		}
	}
	return sources, nil
}

// versionOf returns the version of a source whose changes are visible in the store. Any goroutine may
// call it.
func (c *core) versionOf(source uint16) string {
	if len(c.states) == 1 {
		return c.storeVersion()
	}
	return c.reached.PublishedVersion(source)
}

// storeVersion returns the store's version if it comes from the sources. Until the store is synced,
// a user's writes move it, too: then it is "", which means not yet. Any goroutine may call it.
func (c *core) storeVersion() string {
	synced, version := c.isSynced(), c.writer.Indexer().Version()
	if !synced && c.writtenByHand.Load() { // set before a user's write
		return ""
	}
	return version
}

// atLeast reports whether a version of the store or of a source is at least another version. Before
// the store is synced, an empty version means not yet. After it, an empty version will stay empty,
// and atLeast returns an error.
func (c *core) atLeast(version func() string, other string) (bool, error) {
	synced := c.isSynced() // before the version, which is set before the store becomes synced
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

// waitVersion waits until reached returns true or an error. reached must depend only on the
// versions in the store: waitVersion calls it again whenever one of them has moved. version is for
// error messages.
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
		case <-c.stopped:
			return c.status.because(ErrStopped)
		case <-ctx.Done():
			return c.status.because(fmt.Errorf("version %s is not reached: %w", version, context.Cause(ctx)))
		}
	}
}

// versionWaiters wakes goroutines that wait until the store's version moves.
type versionWaiters struct {
	waiting atomic.Int32

	mu      sync.Mutex
	changed chan struct{}
}

// channel returns a channel that is closed when the version has moved next.
func (v *versionWaiters) channel() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()

	if v.changed == nil {
		v.changed = make(chan struct{})
	}
	return v.changed
}

// wake wakes the waiters, if there are any: the version may have moved.
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
