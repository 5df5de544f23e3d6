package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/records"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Audit is the comparison of a store with the server, at one version.
type Audit struct {
	// Version is the store's version that was compared.
	Version string
	// Objects is the number of compared keys, and Different how many of them differ. Pending is the number
	// of objects that the program has written and the watch has not confirmed: they are not compared.
	Objects, Pending, Different int
	// Differences are the first differences, in the order of their keys, at most 100.
	Differences []Difference
}

// Difference is an object that the store and the server do not have alike.
type Difference struct {
	Key  indexer.Key
	Kind DifferenceKind
	// Stored and Server are the object's versions, "" where it is missing.
	Stored, Server string
}

// DifferenceKind says how an object differs.
type DifferenceKind uint8

const (
	// Missing means that only the server has the object.
	Missing DifferenceKind = iota + 1
	// Extra means that only the store has the object.
	Extra
	// Other means that the store has another version of the object, or another object.
	Other
)

// String returns "missing", "extra" or "other".
func (k DifferenceKind) String() string {
	names := [...]string{"unknown", "missing", "extra", "other"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[0]
}

const (
	// maxDifferences is the highest number of differences in an Audit.
	maxDifferences = 100
	// auditAttempts is how often an audit is tried if the server forgets the store's version meanwhile.
	auditAttempts = 3
)

// Audit compares the store with the server: each source is listed at exactly the version that the store
// has of it, in pages. So a change during the audit is no difference. It waits for the first full state, as
// [Informer.WaitSynced] does. It costs what a list costs, keeps nothing and repairs nothing: to read
// everything anew, run a new informer. An object
// that is quarantined, or that a program has written by hand, counts as a difference. An informer with a share
// is compared within it.
//
// Audit returns the errors of WaitSynced, and of a list, also of one that has expired three times; and
// [ErrNoAudit] if the sources' lists have no version or are a fake's, or if the transform changes names,
// UIDs or versions.
func (i *Informer[T]) Audit(ctx context.Context) (Audit, error) { return i.core.Audit(ctx) }

// Audit is [Informer.Audit].
func (c *core) Audit(ctx context.Context) (a Audit, err error) {
	if err := c.WaitSynced(ctx); err != nil {
		return a, err
	}
	for range auditAttempts {
		a, err = c.auditOnce(ctx)
		if !apierrors.IsResourceExpired(err) {
			break
		}
	}
	switch {
	case errors.Is(err, reflector.ErrNotExact):
		err = fmt.Errorf("%w: %w", ErrNoAudit, err)
	case err == nil:
		return a, nil
	}
	return Audit{}, fmt.Errorf("informer %s: audit: %w", c.options.Name, err)
}

func (c *core) auditOnce(ctx context.Context) (Audit, error) {
	if c.rewrites() {
		return Audit{}, fmt.Errorf("%w: the transform changes names, UIDs or versions", ErrNoAudit)
	}
	var stored indexer.Snapshot[any]
	pending := make(map[indexer.Key]bool)
	versions, share := make([]string, len(c.sources)), c.share.Load()
	c.writer.Freeze(func(tx *indexer.Tx) {
		stored = tx.Snapshot()
		for i := range versions {
			versions[i] = c.versionOf(uint16(i)) //nolint:gosec // at most maxSources
			for key := range c.states[i].fences.All() {
				pending[key] = true
			}
		}
	})
	all := make(comparison, stored.Len())
	for obj := range stored.All() {
		if m := object.Meta(obj); m != nil {
			all[object.Key(m)] = pair{inStore: true, stored: records.IdentityOf(m)}
		}
	}
	for i, version := range versions {
		if version == "" {
			return Audit{}, fmt.Errorf("%w: the lists have no version", ErrNoAudit)
		}
		if err := share.ListAt(ctx, c.sources[i], version, all.listed); err != nil {
			return Audit{}, err
		}
	}
	maps.DeleteFunc(all, func(key indexer.Key, _ pair) bool { return pending[key] })
	a := all.result(stored.Version())
	a.Pending = len(pending)
	return a, nil
}

// comparison is what the store and the server have under each key.
type comparison map[indexer.Key]pair

type pair struct {
	inStore, onServer bool
	stored, server    records.Identity
}

// listed adds an object of the server. Joined sources are listed at different versions: if two of them
// have the object, its newer version counts, as in the store.
func (all comparison) listed(m metav1.Object) {
	key := object.Key(m)
	p, id := all[key], records.IdentityOf(m)
	if !p.onServer || object.Older(p.server.Version, id.Version) {
		p.onServer, p.server = true, id
		all[key] = p
	}
}

func (all comparison) result(version string) Audit {
	a := Audit{Version: version, Objects: len(all)}
	for key, p := range all {
		if kind := p.kind(); kind != 0 {
			a.Differences = append(a.Differences, Difference{key, kind, p.stored.Version, p.server.Version})
		}
	}
	a.Different = len(a.Differences)
	slices.SortFunc(a.Differences, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(x.Key.Namespace, y.Key.Namespace), cmp.Compare(x.Key.Name, y.Key.Name))
	})
	a.Differences = slices.Clip(a.Differences[:min(len(a.Differences), maxDifferences)])
	return a
}

// kind returns how the two differ, or 0.
func (p pair) kind() DifferenceKind {
	switch {
	case !p.inStore:
		return Missing
	case !p.onServer:
		return Extra
	case p.stored != p.server:
		return Other
	}
	return 0
}
