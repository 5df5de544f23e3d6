package informer

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// version returns the store's version: the lowest version of all sources, or "" until all sources are
// complete. Only the processLoop calls it.
func (a *applier) version() string {
	if len(a.states) > 1 && !a.isSynced() && !a.complete() {
		return ""
	}
	return a.reached.Lowest()
}

// point is a version that a source is to reach, in a history of the server.
type point struct {
	source  uint16
	version string
	history uint64
}

// hasReached is the comparison of all waits. It reports whether the store has all changes of a source up to a point:
// yes, no or, with [ErrVersion], that the two do not compare. If the source or the point has no version, there is
// nothing to compare: the source has come so far once it has been read.
func (c *core) hasReached(p point) (bool, error) {
	synced := c.isSynced() // before the version, which is set before the informer becomes synced
	now := c.reached.PublishedVersion(p.source)
	switch {
	case c.versions.history() != p.history: // after the version, which is set after the history
		return false, errNewHistory
	case now == "" && !synced:
		return false, nil
	case now == "" || p.version == "":
		return true, nil
	}
	order, err := resourceversion.CompareResourceVersion(p.version, now)
	if err != nil {
		return false, fmt.Errorf("%w: %.*q with the store's %.*q", ErrVersion, object.MaxText, p.version, object.MaxText, now)
	}
	return order <= 0, nil
}

// upTo is the condition that all sources have reached their points.
func (c *core) upTo(points []point) (pending, error) {
	more := c.versions.channel()
	for _, p := range points {
		reached, err := c.hasReached(p)
		if reached {
			continue
		}
		missing := ErrNotSynced
		if c.isSynced() || c.reached.PublishedVersion(p.source) != "" {
			missing = fmt.Errorf("version %s is not reached", cut(p.version))
		}
		return pending{missing, more, []uint16{p.source}}, err
	}
	return pending{}, nil
}

// shows reports whether the store has a version of an object, or a newer one.
func (c *core) shows(key indexer.Key, version string) bool {
	stored, ok := c.writer.Stored(key)
	if !ok {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, records.IdentityOf(stored).Version)
	return err == nil && order <= 0
}

// versionWaiters wakes goroutines that wait until the store's version moves.
type versionWaiters struct {
	waiting   atomic.Int32
	histories atomic.Uint64 // how often the history of a source has gone back

	mu      sync.Mutex
	changed chan struct{}
}

// history returns the number of the present history. Versions of two histories do not compare.
func (v *versionWaiters) history() uint64 { return v.histories.Load() }

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
		return nil, context.Cause(ctx)
	}
}

// sourcesOf returns the sources that may hold objects of a namespace, or what is missing to tell.
func (c *core) sourcesOf(namespace string) (sources []uint16, p pending) {
	c.namespaces.asked.Do(func() { c.namespaces.ask(c.sources) })
	if !closed(c.namespaces.known) {
		return nil, pending{missing: errNamespace, more: c.namespaces.known}
	}
	for i, scope := range c.namespaces.of {
		if scope == "" || scope == namespace {
			sources = append(sources, uint16(i)) //nolint:gosec // at most maxSources
		}
	}
	return sources, pending{}
}
