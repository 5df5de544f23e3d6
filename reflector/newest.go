package reflector

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// Newest returns the newest resourceVersion of a source, by a list of one object: a server reads its
// version from etcd, so everything that was written before the call is at or before it. The list is
// without the source's Tweak, since a selector would make the server search for the object. If the
// server forbids that list, Newest asks again with the Tweak: RBAC may allow one name, and the node
// authorizer one node. Where Send is set, Newest decodes no object, and the request of a generated client
// asks for metadata.
//
// Newest returns "" for a fake, whose version proves nothing, and if the source's lists have no version;
// [ErrNoSource] without a source; and the error of the list. It returns when ctx ends, also if the source
// does not.
func Newest(ctx context.Context, source Source) (version string, err error) {
	switch {
	case source.IsZero():
		return "", ErrNoSource
	case source.Streams == StreamingUnsupported:
		return "", nil
	}
	version, err = source.newest(ctx, nil)
	if source.Tweak != nil && apierrors.IsForbidden(err) {
		return source.newest(ctx, source.Tweak)
	}
	return version, err
}

// newest lists one object, with a tweak unless it is nil.
func (s Source) newest(ctx context.Context, tweak func(*metav1.ListOptions)) (string, error) {
	return wire.Call(ctx, func() (string, error) {
		var o metav1.ListOptions
		if tweak != nil {
			tweak(&o)
		}
		o.Limit, o.ResourceVersion, o.ResourceVersionMatch = 1, "", ""
		ask := s.ask
		if s.Send != nil {
			ask = s.Send.askHead
		}
		a, err := ask(ctx, o, true)
		switch {
		case err != nil:
			return "", err
		case a.Body != nil:
			return wire.ReadVersion(ctx, a.Body)
		}
		p, err := pageOf(a.List)
		return p.version, err
	}, func(string) {})
}
