package factory

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/watchlist"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// from returns the source of a client that is part of another, such as a
// clientset. The factory was given the whole, so that is asked first whether it can
// stream (client-go's util/watchlist): it may wrap one that could.
func from[L runtime.Object](whole any, part reflector.Client[L]) reflector.Source {
	source := reflector.From(part)
	if watchlist.DoesClientNotSupportWatchListSemantics(whole) {
		return listed{source}
	}
	return source
}

// listed is a source that is not to be asked for streams.
type listed struct{ reflector.Source }

func (listed) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }
