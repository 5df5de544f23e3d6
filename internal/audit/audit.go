package audit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// pageSize is the page size of the lists.
const pageSize = 500

// Frozen is the store of an informer at one moment, and what it was read from.
type Frozen struct {
	Objects iter.Seq[any]
	Sources []Source
	Foreign func(metav1.Object) bool // whether an object is outside of the informer's share
	Pending []indexer.Key            // objects that the program has written and the watch has not confirmed
}

// Source is a source of an informer.
type Source struct {
	Version string // what the store has of the source; "" if that has no version
	List    func(context.Context, metav1.ListOptions) (runtime.Object, error)
}

// Report is the result of an audit.
type Report struct {
	Objects     int // number of keys
	Pending     int // objects that the program has written and the watch has not confirmed: they are not compared
	Differences []Difference
}

// Difference is an object that differs between the store and the server.
type Difference struct {
	Key  indexer.Key
	Kind Kind
	// Stored and Server are the object's versions, "" where it is missing.
	Stored, Server string
}

// Kind says how an object differs.
type Kind string

const (
	// Missing means that only the server has the object.
	Missing Kind = "missing"
	// Extra means that only the store has the object.
	Extra Kind = "extra"
	// Other means that the store has another version of the object, or another object.
	Other Kind = "other"
)

// Of audits an informer of this module. Quarantined objects, objects that a program has written by
// hand, and objects whose name, UID or version a transform has changed count as differences. The
// error is that of a list. It satisfies apierrors.IsResourceExpired if the server no longer has the
// version.
func Of(ctx context.Context, informer cache.SharedIndexInformer) (Report, error) {
	f := informer.(interface{ Frozen() Frozen }).Frozen()
	all := make(comparison)
	for obj := range f.Objects {
		if m := object.Meta(obj); m != nil {
			key := object.Key(m)
			all[key] = pair{stored: object.IdentityOf(key, m)}
		}
	}
	for _, s := range f.Sources {
		err := s.each(ctx, func(m metav1.Object) {
			if !f.Foreign(m) {
				all.list(m)
			}
		})
		if err != nil {
			return Report{}, err
		}
	}
	for _, key := range f.Pending {
		delete(all, key)
	}
	return Report{Objects: len(all), Pending: len(f.Pending), Differences: all.differences()}, nil
}

// each lists the source at its version, and calls visit with each object.
func (s Source) each(ctx context.Context, visit func(metav1.Object)) error {
	if s.Version == "" {
		return errNoVersion
	}
	o := metav1.ListOptions{ResourceVersion: s.Version, ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: pageSize}
	for {
		list, err := s.List(ctx, o)
		if err != nil {
			return err
		}
		page, err := meta.ListAccessor(list)
		switch {
		case err != nil:
			return err
		case page.GetResourceVersion() != s.Version:
			return fmt.Errorf("%w: the answer has version %q, want %q", errNoVersion, page.GetResourceVersion(), s.Version)
		}
		err = meta.EachListItem(list, func(item runtime.Object) error {
			m, err := meta.Accessor(item)
			if err == nil {
				visit(m)
			}
			return err
		})
		if err != nil || page.GetContinue() == "" {
			return err
		}
		o = metav1.ListOptions{Continue: page.GetContinue(), Limit: pageSize}
	}
}

// comparison is what the store and the server have under each key.
type comparison map[indexer.Key]pair

// pair has the zero Identity where an object is missing.
type pair struct{ stored, server object.Identity }

// list adds an object of the server. Joined sources are listed at different versions: if two of them
// have the object, its newer version counts, as in the store.
func (all comparison) list(m metav1.Object) {
	key := object.Key(m)
	p, id := all[key], object.IdentityOf(key, m)
	if p.server == (object.Identity{}) || object.Older(p.server.Version, id.Version) {
		p.server = id
		all[key] = p
	}
}

// differences returns the differences, in the order of their keys.
func (all comparison) differences() (found []Difference) {
	for key, p := range all {
		if kind := p.kind(); kind != "" {
			found = append(found, Difference{key, kind, p.stored.Version, p.server.Version})
		}
	}
	slices.SortFunc(found, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(x.Key.Namespace, y.Key.Namespace), cmp.Compare(x.Key.Name, y.Key.Name))
	})
	return found
}

// kind returns how the two differ, or "".
func (p pair) kind() Kind {
	switch {
	case p.stored == object.Identity{}:
		return Missing
	case p.server == object.Identity{}:
		return Extra
	case p.stored != p.server:
		return Other
	}
	return ""
}
