package reflector

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// Newest returns the newest resourceVersion of a source, by a list of one object: a server reads its
// version from etcd, so everything that was written before the call is at or before it. The list is that
// without the source's Tweak, since a selector would make the server search for the object. Newest
// returns "" for a fake, whose version proves nothing, and if the source's lists have no version;
// [ErrNoSource] without a source; and the error of the list. It returns when ctx ends, also if the source
// does not.
func Newest(ctx context.Context, source Source) (version string, err error) {
	switch {
	case source.missing():
		return "", ErrNoSource
	case source.Streams == StreamingUnsupported:
		return "", nil
	}
	list, err := wire.Call(ctx, func() (runtime.Object, error) {
		return source.List(ctx, metav1.ListOptions{Limit: 1})
	}, func(runtime.Object) {})
	if err != nil {
		return "", err
	}
	p, err := pageOf(list)
	return p.version, err
}
