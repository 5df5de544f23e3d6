package reflector

import (
	"context"
	"io"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"github.com/tidemark-k8s/tidemark/internal/served"
)

// present is a [Source] that knows its resource, and has a client to ask whether the server
// serves it.
type present interface {
	// presence returns what watches over the resource, nil where no client can be asked.
	// Nothing is asked yet.
	presence(random func() float64) *served.Resource
	// move has the source ask for the resource in another version.
	move(version string)
}

// presentOf returns the source that knows its resource: source itself, or what it wraps. It is nil
// where there is none.
func presentOf(source Source) present {
	switch s := source.(type) {
	case present:
		return s
	case tweaked:
		return presentOf(s.source)
	case interface{ Unwrap() Source }:
		return presentOf(s.Unwrap())
	}
	return nil
}

// versioned is the source of a resource whose objects may be of any version, in the one that
// the server serves.
type versioned struct {
	resource schema.GroupVersionResource // as the user wants it
	client   func() served.Client
	in       func(schema.GroupVersionResource) *takenSource
	current  atomic.Pointer[takenSource]
}

var (
	_ wired   = (*versioned)(nil)
	_ present = (*versioned)(nil)
)

func newVersioned(resource schema.GroupVersionResource, client func() served.Client, in func(schema.GroupVersionResource) *takenSource) *versioned {
	v := &versioned{resource: resource, client: client, in: in}
	v.current.Store(in(resource))
	return v
}

func (v *versioned) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	return v.current.Load().List(ctx, o)
}

func (v *versioned) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return v.current.Load().Watch(ctx, o)
}

func (v *versioned) ask(ctx context.Context, o metav1.ListOptions, list bool) (answer, error) {
	return v.current.Load().ask(ctx, o, list)
}

func (v *versioned) Streaming() Streaming { return v.current.Load().Streaming() }

// Namespace returns the namespace that the source was made for.
func (v *versioned) Namespace() string { return v.current.Load().Namespace() }

func (v *versioned) objectKind() objectKind { return v.current.Load().objectKind() }

func (v *versioned) presence(random func() float64) *served.Resource {
	return served.New(v.client(), v.resource, true, random)
}

func (v *versioned) move(version string) {
	v.current.Store(v.in(v.resource.GroupResource().WithVersion(version)))
}

// presence watches over the resource in the one version that the Go type is of.
func (s *restSource) presence(random func() float64) *served.Resource {
	client := served.FromREST(s.client)
	if client == nil {
		return nil
	}
	return served.New(client, s.kind.kind.GroupVersion().WithResource(s.resource), false, random)
}

func (s *restSource) move(string) {}

// maxDocument is the most that is read of a document of discovery.
const maxDocument = 16 << 20

// documents gets discovery by a metadata client with [Wire] in its transport: the client itself
// would drop what it gets. A document is what a resource without a name would be listed by.
func documents(c metadata.Interface) served.Documents {
	return func(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
		resource := gv.WithResource("")
		source := &takenSource{Source: From(c.Resource(resource)), path: collectionPath(resource, "")}
		a, err := source.ask(ctx, metav1.ListOptions{}, true)
		if err != nil {
			return nil, err
		}
		defer a.close()
		if a.body == nil {
			return nil, served.ErrNoDiscovery
		}
		return io.ReadAll(io.LimitReader(a.body, maxDocument))
	}
}
