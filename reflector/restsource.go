package reflector

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/internal/served"
)

// connectAttempts is the number of times a request is sent on broken connections.
const connectAttempts = 10

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
	if !isGenerated(c) {
		return From(c)
	}
	return fromREST[O](c, resource, true)
}

// FromCustomResource is [FromGenerated] for any generated client of a custom resource. The kind must
// have the name of the Go type, and the answers must be JSON. The client's lists and watches must do
// nothing beyond sending the request and decoding the answer.
func FromCustomResource[O, L runtime.Object](c Client[L], resource schema.GroupVersionResource) Source {
	return fromREST[O](c, resource, false)
}

func fromREST[O, L runtime.Object](c Client[L], resource schema.GroupVersionResource, builtin bool) Source {
	source := From(c)
	generated, ok := any(c).(generatedClient)
	if source == nil || !ok {
		return source
	}
	client, ok := generated.GetClient().(*rest.RESTClient)
	if !ok || client == nil {
		return source
	}
	object := reflect.TypeFor[O]()
	s := &restSource{
		client:   client,
		resource: resource.Resource, namespace: generated.GetNamespace(),
		kind:     objectKind{object: object, kind: resource.GroupVersion().WithKind(object.Elem().Name()), secret: isSecrets(resource)},
		protobuf: builtin,
	}
	known := capabilitiesOf(source)
	known.watchOver = func(random func() float64) *served.Resource {
		documents := served.FromREST(client)
		if documents == nil {
			return nil
		}
		return served.New(documents, resource, random)
	}
	known.raw = rawSource{s.kind, s.ask}
	return withCapabilities(source, known)
}

// isGenerated reports whether a client is client-go's own, and not a type that embeds it.
func isGenerated(c any) bool {
	return c != nil && strings.HasPrefix(packageOf(c), "k8s.io/client-go/kubernetes/typed/") && !strings.HasSuffix(packageOf(c), "/fake")
}

// restSource sends the requests of a generated client itself.
type restSource struct {
	client              *rest.RESTClient
	resource, namespace string
	kind                objectKind
	protobuf            bool
}

func (s *restSource) ask(ctx context.Context, o metav1.ListOptions, list bool) (a answer, err error) {
	o.Watch = !list
	a.body, err = persistently(ctx, !list, func() (io.ReadCloser, error) { return s.request(o).Stream(ctx) })
	return a, delayedByServer(err)
}

// delayedByServer adds the Retry-After to the error of a failing server.
func delayedByServer(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError {
		if seconds, says := apierrors.SuggestsClientDelay(err); says && seconds > 0 {
			return &delayedError{err, time.Duration(seconds) * time.Second}
		}
	}
	return err
}

// askClient sends a request through the client, which decodes the answer.
func askClient(ctx context.Context, source Source, o metav1.ListOptions, list bool) (a answer, err error) {
	if list {
		a.list, err = source.List(ctx, o)
	} else {
		a.watch, err = source.Watch(ctx, o)
	}
	return a, err
}

// request builds the request of a generated client, with one difference: Retry-After is left to
// the reflector.
func (s *restSource) request(o metav1.ListOptions) *rest.Request {
	r := s.client.Get().
		MaxRetries(0).
		UseProtobufAsDefaultIfPreferred(s.protobuf).
		NamespaceIfScoped(s.namespace, s.namespace != "").
		Resource(s.resource).
		SpecificallyVersionedParams(&o, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"})
	var timeout time.Duration // 0 in place of the rest.Config's
	if o.TimeoutSeconds != nil {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	r.Timeout(timeout)
	if o.Watch {
		r.Throttle(nil) // a watch is not limited, as in client-go
	}
	return r
}

// persistently repeats a request if the connection broke before the answer. Do and Watch of
// client-go's request repeat it as well, but Stream does not. A server that says when to try again is
// left to the reflector.
func persistently(ctx context.Context, watch bool, send func() (io.ReadCloser, error)) (body io.ReadCloser, err error) {
	for attempt := 1; ; attempt++ {
		body, err = send()
		if err == nil || !connectionBroke(err, watch) || attempt == connectAttempts || ctx.Err() != nil {
			return body, err
		}
		pause := time.NewTimer(connectPause + rand.N(connectPause))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

func connectionBroke(err error, watch bool) bool {
	return utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		watch && utilnet.IsTimeout(err)
}

// watchError returns the error that ended a watch, or nil. The end of the body, a broken connection
// and a time-out are no errors: the watch is reopened.
func watchError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || connectionBroke(err, true) {
		return nil
	}
	return err
}
