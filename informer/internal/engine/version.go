package engine

import (
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// version returns the store's version: the lowest version of all sources, or "" until all sources are
// complete. Only the processLoop calls it.
func (a *applier) version() string {
	if len(a.states) > 1 && !a.IsSynced() && !a.complete() {
		return ""
	}
	return a.reached.lowest()
}

// point is a version that a source is to reach, in one history of the server.
type point struct {
	source  uint16
	version string
	history uint64
}

// hasReached is the comparison of all waits. It reports whether the store has all changes of a source up to a
// point. The error is [ErrVersion] if the two do not compare. If the source or the point has no version,
// there is nothing to compare, and reading the source once is enough.
func (c *Core) hasReached(p point) (bool, error) {
	synced := c.IsSynced() // read before the version, which is set before the informer becomes synced
	now := c.reached.publishedVersion(p.source)
	switch {
	case c.versions.history() != p.history: // read after the version, which is set after the history
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
func (c *Core) upTo(points []point) (pending, error) {
	more := c.versions.Changed()
	for _, p := range points {
		reached, err := c.hasReached(p)
		if reached {
			continue
		}
		missing := ErrNotSynced
		if c.IsSynced() || c.reached.publishedVersion(p.source) != "" {
			missing = fmt.Errorf("version %s is not reached", cut(p.version))
		}
		return pending{missing, more, []uint16{p.source}}, err
	}
	return pending{}, nil
}

// shows reports whether the store has this version of an object, or a newer one.
func (c *Core) shows(key indexer.Key, version string) bool {
	stored, ok := c.writer.Stored(key)
	if !ok {
		return false
	}
	for i := range c.states { // the object may be of any source
		order, err := resourceversion.CompareResourceVersion(version, c.states[i].identity(key, stored).Version)
		if err == nil && order <= 0 {
			return true
		}
	}
	return false
}

// versionWaiters wakes the goroutines that wait for the store's version to move.
type versionWaiters struct {
	delivery.Waker
	histories atomic.Uint64 // how often a source's history has gone back
}

// history returns the number of the current history. Versions of two histories do not compare.
func (v *versionWaiters) history() uint64 { return v.histories.Load() }
