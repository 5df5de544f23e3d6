package reflector

import (
	"net/http"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// Wire wraps the transport of client-go's dynamic and metadata clients, so that reflectors decode
// their lists and watches themselves:
//
//	config.Wrap(reflector.Wire)
//	client, err := dynamic.NewForConfig(config)
//
// A reflector then decodes objects one by one as they arrive, stores equal values once
// ([Decoding]), and skips objects that the sink already has. Wire takes over only requests of
// [FromDynamic], [FromMetadata] and [FromControllerRuntime]. The factories use the first two. All
// other requests pass through unchanged.
//
// If a busy or failing server sends Retry-After, or a connection breaks, the reflector (and not the
// client) repeats the request and reports it.
//
// Call Wrap with Wire last: a transport that is added later does not see the objects. If a later
// transport replaces a body, the request fails, and the client decodes from then on.
//
// Clients of the built-in kinds need no transport, see [FromGenerated].
func Wire(next http.RoundTripper) http.RoundTripper { return wire.Transport{Next: next} }
