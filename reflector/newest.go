package reflector

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/around"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// Newest returns the newest resourceVersion of a source, by a list of one object: a server reads its
// version from etcd, so everything that was written before the call is at or before it. The list is that
// of the source inside of a [Tweak], since a selector would make the server search for the object. Newest
// returns "" for a fake, whose version proves nothing, and if the source's lists have no version;
// [ErrNoSource] without a source; and the error of the list. It returns when ctx ends, also if the source
// does not.
func Newest(ctx context.Context, source Source) (version string, err error) {
	source = withoutTweak(source)
	if source == nil {
		return "", ErrNoSource
	}
	list, err := wire.Call(ctx, func() (runtime.Object, error) {
		if isFake(source) {
			return nil, errFake
		}
		return source.List(ctx, metav1.ListOptions{Limit: 1})
	}, func(runtime.Object) {})
	switch {
	case errors.Is(err, errFake):
		return "", nil
	case err != nil:
		return "", err
	}
	p, err := pageOf(list)
	return p.version, err
}

// isFake reports whether a source certainly is a fake. It may call a user's method.
func isFake(source Source) bool {
	return capabilitiesOf(source).streaming() == StreamingUnsupported
}

// withoutTweak returns the source inside of sources that change the options of requests.
func withoutTweak(source Source) Source {
	switch s := source.(type) {
	case *described:
		if t, ok := s.Source.(tweaked); ok {
			return withoutTweak(t.source)
		}
	case interface{ Around() around.Source[Source] }:
		if inner := s.Around().Inner; inner != nil {
			return withoutTweak(inner)
		}
	}
	return source
}
