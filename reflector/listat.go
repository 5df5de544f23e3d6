package reflector

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// ListAt lists a source as it was at exactly a version, in pages of 500, and calls visit with the
// metadata of each object, on the caller's goroutine. It returns [ErrNotExact] if the source is a fake, or
// answers at another version; the error of a list, which is apierrors.IsResourceExpired if the server has
// forgotten the version; and [ErrEndless]. ListAt returns when ctx ends, also if the source does not.
func ListAt(ctx context.Context, source Source, version string, visit func(metav1.Object)) error {
	return (*Share)(nil).ListAt(ctx, source, version, visit)
}

// ListAt is the function [ListAt] for the objects of the share, for all objects if s is nil. The others do not
// count as Foreign. If the server refuses the selector, it is asked without.
func (s *Share) ListAt(ctx context.Context, source Source, version string, visit func(metav1.Object)) error {
	if source == nil {
		return ErrNoSource
	}
	o := metav1.ListOptions{ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: defaultPageSize}
	if s != nil {
		o.ShardSelector = s.selector
	}
	for pages := (pager{}); ; {
		list, err := wire.Call(ctx, func() (runtime.Object, error) {
			if isFake(source) {
				return nil, errFake
			}
			return source.List(ctx, o)
		}, func(runtime.Object) {})
		if isInvalid(err) && o.ShardSelector != "" && o.Continue == "" {
			o.ShardSelector = ""
			continue
		}
		if err != nil {
			return err
		}
		p, err := pageOf(list)
		switch {
		case err != nil:
			return err
		case p.version != version:
			return fmt.Errorf("%w: it answers at version %.*q instead of %.*q", ErrNotExact, object.MaxText, p.version, object.MaxText, version)
		}
		if err := pages.follow(meta.LenList(p.items), p.token); err != nil {
			return err
		}
		err = meta.EachListItem(p.items, func(item runtime.Object) error {
			m := object.Meta(item)
			if m == nil {
				return fmt.Errorf("%w: a %T without metadata", ErrUnexpected, item)
			}
			if s == nil || s.Set().Has(m.GetNamespace(), m.GetUID()) {
				visit(m)
			}
			return nil
		})
		if err != nil || p.token == "" {
			return err
		}
		o = metav1.ListOptions{Continue: p.token, Limit: defaultPageSize, ShardSelector: o.ShardSelector}
	}
}
