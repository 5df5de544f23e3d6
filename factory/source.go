package factory

import (
	"k8s.io/client-go/util/watchlist"

	"github.com/tidemark-k8s/tidemark/internal/around"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// checkStreaming returns a source that does not stream, if the whole client says that it cannot
// (client-go's util/watchlist). The source was made of a part of that client, such as a
// clientset's client of one kind; the whole may wrap a client that could stream.
func checkStreaming(whole any, source reflector.Source) reflector.Source {
	if source == nil || !watchlist.DoesClientNotSupportWatchListSemantics(whole) {
		return source
	}
	return listOnly{source}
}

// listOnly is a source whose initial state is listed, not streamed.
type listOnly struct{ reflector.Source }

// Around returns the source without the restriction.
func (l listOnly) Around() around.Source[reflector.Source] {
	return around.Source[reflector.Source]{Inner: l.Source, ListOnly: true}
}
