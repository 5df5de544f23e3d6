package factory

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/watchlist"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// ofClient returns the source that a function makes from a client, or the zero Source if the client is nil or
// a nil pointer. The function uses a part of the client, such as a clientset's client of one kind. Only the
// whole client says that it cannot stream (client-go's util/watchlist), and it may wrap a client that can.
func ofClient(whole any, source func() reflector.Source) reflector.Source {
	if object.IsNil(whole) {
		return reflector.Source{}
	}
	s := source()
	if watchlist.DoesClientNotSupportWatchListSemantics(whole) {
		s.Streams = reflector.StreamingUnsupported
	}
	return s
}

// inOrder returns a function that calls the tweaks in order, or nil if all of them are nil.
func inOrder(tweaks ...func(*metav1.ListOptions)) func(*metav1.ListOptions) {
	tweaks = slices.DeleteFunc(tweaks, func(tweak func(*metav1.ListOptions)) bool { return tweak == nil })
	if len(tweaks) == 0 {
		return nil
	}
	return func(o *metav1.ListOptions) {
		for _, tweak := range tweaks {
			tweak(o)
		}
	}
}
