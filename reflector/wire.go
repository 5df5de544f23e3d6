package reflector

import (
	"net/http"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// Wire wraps the transport of client-go's dynamic and metadata clients, so that a reflector decodes
// their lists and watches itself:
//
//	config.Wrap(reflector.Wire)
//	client, err := dynamic.NewForConfig(config)
//
// The reflector then decodes objects one by one as they arrive, stores equal values once
// ([Decoding]), and skips objects that the sink already holds. Wire takes over only requests of
// [FromDynamic], [FromMetadata] and [FromControllerRuntime]; the factories use the first two. All
// other requests pass through unchanged.
//
// If a busy or failing server sends Retry-After, or a connection breaks, the reflector repeats the request and
// reports it, instead of the client.
//
// Call Wrap with Wire last: a transport that is added later does not see the objects. If it replaces
// a body, the request fails, and the client decodes from then on.
//
// Clients of the built-in kinds need no transport, see [FromGenerated].
func Wire(next http.RoundTripper) http.RoundTripper { return wire.Transport{Next: next} }
