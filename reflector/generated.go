package reflector

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// generatedClient is the common part of generated clients (gentype.Client).
type generatedClient interface {
	GetClient() rest.Interface
	GetNamespace() string
}

// FromGenerated returns a source for a generated client of a resource, like [From]. O is the type
// of the objects. If the client is client-go's own and connects to a server, the reflector sends
// the requests itself, through the client's REST client, and decodes the answers. This is faster,
// stores equal values once ([Decoding].Unshared), and skips objects that the sink already has.
// Other clients (wrappers, fakes) work as with [From].
func FromGenerated[O, L runtime.Object](c Client[L], resource schema.GroupVersionResource) Source {
	source := fromClient(c, resource)
	if isGenerated(c) {
		source.Send = throughREST[O](c, resource, true)
	}
	return source
}

// FromCustomResource is [FromGenerated] for any generated client of a custom resource. The kind
// must have the name of the Go type, and the answers must be JSON. The client's List and Watch must
// only send the request and decode the answer.
func FromCustomResource[O, L runtime.Object](c Client[L], resource schema.GroupVersionResource) Source {
	source := fromClient(c, resource)
	source.Send = throughREST[O](c, resource, false)
	return source
}

// throughREST returns a Sender that uses the REST client of a generated client, or nil if it has
// none.
func throughREST[O, L runtime.Object](c Client[L], resource schema.GroupVersionResource, builtin bool) *Sender {
	generated, ok := any(c).(generatedClient)
	if !ok || object.IsNil(c) {
		return nil
	}
	client, ok := generated.GetClient().(*rest.RESTClient)
	if !ok || client == nil {
		return nil
	}
	object := reflect.TypeFor[O]()
	kind := wire.Objects{Type: object, Kind: resource.GroupVersion().WithKind(object.Elem().Name()), Secret: isSecrets(resource)}
	through := &wire.REST{
		Client:   client,
		Resource: resource.Resource, Namespace: generated.GetNamespace(),
		Protobuf: builtin,
	}
	return &Sender{kind, through.Ask, through.AskHead}
}

// isGenerated reports whether a client is client-go's own rather than a type that embeds it.
func isGenerated(c any) bool {
	return c != nil && strings.HasPrefix(packageOf(c), "k8s.io/client-go/kubernetes/typed/") && !strings.HasSuffix(packageOf(c), "/fake")
}
