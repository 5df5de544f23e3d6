package reflector

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"github.com/tidemark-k8s/tidemark/internal/served"
)

// resourceSource is a [Source] that knows its resource, and has a client to ask whether the server
// serves it.
type resourceSource interface {
	// watchOver returns what watches over the resource, nil where no client can be asked.
	// Nothing is asked yet.
	watchOver(random func() float64) *served.Resource
	// move has the source ask for the resource in a version, and tells whether it asked for
	// another one.
	move(version string) bool
	// isMoved tells whether the source has moved since the last full state was taken: what the
	// sink holds is of another version.
	isMoved() bool
	// stay takes note of a full state that was taken.
	stay()
}

// resourceSourceOf returns the source that knows its resource: source itself, or what it wraps. It is nil
// where there is none.
func resourceSourceOf(source Source) resourceSource {
	if known, ok := behind[resourceSource](source); ok {
		return known
	}
	if t, ok := behind[tweaked](source); ok {
		return resourceSourceOf(t.source)
	}
	return nil
}

// presence is what a reflector knows of whether the server has the resource.
type presence struct {
	source   resourceSource   // nil where nobody can be asked
	resource *served.Resource // made when the resource is missing for the first time
	// holds says that the sink was written a full state: there are objects to be deleted
	// where the resource is taken away.
	holds bool
	// missing is since when the resource is missing, zero where it is there.
	missing time.Time
}

// note takes note of what has happened, and of the phase that the machine is in now.
func (p *presence) note(in input, phase phase) {
	if in.kind == inCommitted && p.source != nil {
		p.source.stay()
	}
	switch {
	case in.kind == inCommitted && phase == absent:
		p.holds = false
	case in.kind == inCommitted:
		p.holds, p.missing = true, time.Time{}
	case phase == absent && p.missing.IsZero():
		p.missing = time.Now()
	}
	if p.resource != nil && provesPresence(in, phase) {
		p.resource.Found()
	}
}

// provesPresence says that a watch has brought something, or lasted. That one was accepted
// proves nothing: where a 404 follows as its first event, the resource would be tried again
// and again without a pause.
func provesPresence(in input, phase phase) bool {
	switch in.kind {
	case inEvents, inBookmark:
		return phase == watching
	case inClosed:
		return phase == openingWatch && !in.short
	}
	return false
}

// isMissing says that the server does not know the resource, and that somebody can be
// asked about it. A server may refuse just a stream by a 404: the list that follows it tells.
func (l *loop) isMissing(in input, err error) bool {
	p := &l.presence
	if in.kind != inFailed || l.operation == OpStream || !apierrors.IsNotFound(err) || p.source == nil {
		return false
	}
	if p.resource == nil {
		p.resource = p.source.watchOver(l.random)
	}
	return p.resource != nil
}

// await waits until the server is said to serve the resource, or until it is known to have been taken
// away.
func (l *loop) await() (input, error) {
	type end struct {
		answer  served.Answer
		version string
	}
	e, err := call(l.ctx, func() (e end, err error) {
		e.answer, e.version, err = l.presence.resource.Await(l.ctx, l.presence.holds)
		return e, err
	}, func(end) {})
	switch {
	case err != nil:
		return input{kind: inFailed}, err
	case e.answer == served.Served:
		return input{kind: inServed, moved: l.presence.source.move(e.version)}, nil
	case e.answer == served.Deleted:
		return input{kind: inWithdrawn}, nil
	default:
		return input{kind: inUnknowable}, nil
	}
}

// versioned is the source of a resource whose objects may be of any version, in the one that
// the server serves.
type versioned struct {
	resource schema.GroupVersionResource // as the user wants it
	client   func() served.Client
	in       func(schema.GroupVersionResource) *takenSource
	current  atomic.Pointer[inVersion]
	moved    atomic.Bool
}

// inVersion is a resource in one version, and how to ask for it.
type inVersion struct {
	*takenSource
	resource schema.GroupVersionResource
}

var (
	_ wired          = (*versioned)(nil)
	_ resourceSource = (*versioned)(nil)
	_ resourceSource = (*restSource)(nil)
)

func newVersioned(resource schema.GroupVersionResource, client func() served.Client, in func(schema.GroupVersionResource) *takenSource) *versioned {
	v := &versioned{resource: resource, client: client, in: in}
	v.current.Store(&inVersion{in(resource), resource})
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

func (v *versioned) watchOver(random func() float64) *served.Resource {
	return served.New(v.client(), v.resource, true, random)
}

func (v *versioned) move(version string) bool {
	next := v.resource.GroupResource().WithVersion(version)
	if v.current.Load().resource == next {
		return false
	}
	v.current.Store(&inVersion{v.in(next), next})
	v.moved.Store(true)
	return true
}

func (v *versioned) isMoved() bool { return v.moved.Load() }

func (v *versioned) stay() { v.moved.Store(false) }

// watchOver watches over the resource in the one version that the Go type is of.
func (s *restSource) watchOver(random func() float64) *served.Resource {
	client := served.FromREST(s.client)
	if client == nil {
		return nil
	}
	return served.New(client, s.kind.kind.GroupVersion().WithResource(s.resource), false, random)
}

func (s *restSource) move(string) bool { return false }

func (s *restSource) isMoved() bool { return false }

func (s *restSource) stay() {}

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
