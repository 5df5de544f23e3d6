package factory

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/watchlist"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// ofClient returns the source that a function makes of a client, or the zero Source if the client is nil or a nil
// pointer. The source does not stream if the whole client says that it cannot (client-go's util/watchlist): the source
// is made of a part of that client, such as a clientset's client of one kind, and the whole may wrap a client that could.
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

// inOrder returns a function that calls several ones, or nil if all of them are nil.
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
