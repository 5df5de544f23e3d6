package reflector

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// Newest returns the newest resourceVersion of a source. It lists one object: the server reads the
// version of a list from etcd, so the result covers everything that was written before the call.
// Newest does not apply the source's Tweak, because a selector would make the server search for an
// object. If the server forbids that list, Newest lists again with the Tweak, because RBAC may
// allow only one name, and the node authorizer only one node. If Send is set, Newest decodes no
// object, and the request of a generated client is for metadata.
//
// Newest returns "" for a fake, whose version proves nothing, and if the source's lists have no
// version. The error is [ErrNoSource] without a source, or the error of the list. Newest returns
// when ctx ends, even if the source does not.
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

// newest lists one object. The tweak may be nil.
func (s Source) newest(ctx context.Context, tweak func(*metav1.ListOptions)) (string, error) {
	return wire.Call(ctx, func() (string, error) {
		var o metav1.ListOptions
		if tweak != nil {
			tweak(&o)
		}
		o.Limit, o.ResourceVersion, o.ResourceVersionMatch = 1, "", ""
		ask := wire.Send(s.ask)
		if s.Send != nil {
			ask = s.Send.askHead
		}
		a, err := ask.Marked(ctx, o, true, nil)
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
