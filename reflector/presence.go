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

// resourceSource knows the resource of a [Source], and has a client to find out whether the server
// serves it.
type resourceSource interface {
	// watchOver returns an observer of the resource, or nil if no client can find out. It sends no
	// request yet.
	watchOver(random func() float64) *served.Resource
	// move makes the source request the resource in an API version, and reports whether that
	// differs from the present one.
	move(version string) bool
	// isMoved reports whether the source has moved since the last full state: the sink's objects
	// are of another API version.
	isMoved() bool
	// stay is called after a full state was committed.
	stay()
}

// presence tracks whether the server has the resource.
type presence struct {
	source   resourceSource   // nil if nobody can be asked
	resource *served.Resource // nil until the resource is missing for the first time
	// holds is true after a full state: the sink has objects to delete if the resource is
	// removed.
	holds bool
	// missing is the time since which the resource is missing, or zero.
	missing time.Time
}

// note follows an input and the machine's new phase. A watch that is open has begun at watchStart.
func (p *presence) note(in input, phase phase, watchStart time.Time) {
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
	if p.resource != nil && provesPresence(in, phase, watchStart) {
		p.resource.Found()
	}
}

// provesPresence reports whether a watch has lasted. A watch that was accepted, and has brought
// something, proves nothing: its next event may be a 404, and the resource would be requested again and
// again without a pause.
func provesPresence(in input, phase phase, watchStart time.Time) bool {
	switch in.kind {
	case inEvents, inBookmark:
		return phase == watching && elapsed(watchStart, shortWatch)
	case inClosed:
		return phase == openingWatch && !in.short
	}
	return false
}

// isMissing reports whether the server does not know the resource, and somebody can be asked about
// it. A 404 for a stream does not count, since servers refuse streams so: the following list decides.
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

// await waits until the server serves the resource, or until the resource is known to be removed.
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

// versioned is a source that can read its resource in any API version; it uses one that the server
// serves.
type versioned struct {
	resource schema.GroupVersionResource // as requested by the user
	client   func() served.Client
	in       func(schema.GroupVersionResource) *takenSource
	current  atomic.Pointer[inVersion]
	moved    atomic.Bool
}

// inVersion is a resource in one API version, and its source.
type inVersion struct {
	*takenSource
	resource schema.GroupVersionResource
}

var (
	_ resourceSource = (*versioned)(nil)
	_ resourceSource = (*restSource)(nil)
)

func newVersioned(resource schema.GroupVersionResource, client func() served.Client, in func(schema.GroupVersionResource) *takenSource) Source {
	v := &versioned{resource: resource, client: client, in: in}
	v.current.Store(&inVersion{in(resource), resource})
	return &described{v, v.capabilities}
}

func (v *versioned) capabilities() capabilities {
	now := v.current.Load()
	c := capabilitiesOf(now.Source)
	c.namespace, c.resource, c.raw = now.namespace, v, rawSource{now.kind, v.ask}
	return c
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

// watchOver observes the resource in the API version of the Go type only.
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

// maxDocument bounds the size of a discovery document.
const maxDocument = 16 << 20

// documents gets discovery documents by a metadata client with [Wire] in its transport; the client
// itself would drop the answer. A document has the path of a list of a resource without a name.
func documents(c metadata.Interface) served.Documents {
	return func(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
		resource := gv.WithResource("")
		source := newTakenSource(From(c.Resource(resource)), resource, "", nil)
		a, err := source.ask(ctx, metav1.ListOptions{}, true)
		if err != nil {
			return nil, err
		}
		if a.body == nil {
			a.close()
			return nil, served.ErrNoDiscovery
		}
		document, err := io.ReadAll(io.LimitReader(a.body, maxDocument))
		if a.body.Close() != nil {
			return nil, served.ErrNoDiscovery
		}
		return document, err
	}
}
