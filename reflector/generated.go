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

// generatedClient is the common part of the clients that client-gen generates (gentype.Client).
type generatedClient interface {
	GetClient() rest.Interface
	GetNamespace() string
}

// FromGenerated returns a source for a generated client of a resource, like [From]. If the client is
// client-go's own, and speaks to a server, the reflector sends the requests itself, through the
// client's REST client, and decodes the answers: that is faster, stores equal values once
// ([Options].Unshared), and skips objects that the sink already holds. Other clients (wrappers,
// fakes) are used as by [From]. O is the type of the objects.
func FromGenerated[O, L runtime.Object](c Client[L], resource schema.GroupVersionResource) Source {
	source := fromClient(c, resource)
	if isGenerated(c) {
		source.Send = throughREST[O](c, resource, true)
	}
	return source
}

// FromCustomResource is [FromGenerated] for any generated client of a custom resource. The kind must
// have the name of the Go type, and the answers must be JSON. The client's lists and watches must do
// nothing beyond sending the request and decoding the answer.
func FromCustomResource[O, L runtime.Object](c Client[L], resource schema.GroupVersionResource) Source {
	source := fromClient(c, resource)
	source.Send = throughREST[O](c, resource, false)
	return source
}

// throughREST returns a Sender that uses the REST client of a generated client, or nil if there is none.
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

// isGenerated reports whether a client is client-go's own, and not a type that embeds it.
func isGenerated(c any) bool {
	return c != nil && strings.HasPrefix(packageOf(c), "k8s.io/client-go/kubernetes/typed/") && !strings.HasSuffix(packageOf(c), "/fake")
}
