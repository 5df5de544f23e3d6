package factory

import (
	"k8s.io/client-go/util/watchlist"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// asked returns the source that was made of a part of a client, such as a
// clientset's client of one kind. The factory was given the whole, so that is asked
// first whether it can stream (client-go's util/watchlist): it may wrap one that could.
func asked(whole any, source reflector.Source) reflector.Source {
	if source == nil || !watchlist.DoesClientNotSupportWatchListSemantics(whole) {
		return source
	}
	return listed{source}
}

// listed is a source that is not to be asked for streams.
type listed struct{ reflector.Source }

func (listed) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }

// Unwrap returns the source, which is read as it would be without.
func (l listed) Unwrap() reflector.Source { return l.Source }
