package factory

import (
	"path"
	"reflect"

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

// isFake tells whether a client is one of client-go's fakes, or one that client-gen has
// generated: their packages are called so.
func isFake(client any) bool {
	t := reflect.TypeOf(client)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && path.Base(t.PkgPath()) == "fake"
}

// listed is a source that is not to be asked for streams.
type listed struct{ reflector.Source }

func (listed) Streaming() reflector.Streaming { return reflector.StreamingUnsupported }

// Unwrap returns the source, which is read as it would be without.
func (l listed) Unwrap() reflector.Source { return l.Source }
