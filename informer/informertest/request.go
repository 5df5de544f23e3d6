package informertest

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is what a request asks for, in the words in which RBAC and
// authorization.k8s.io speak of it. To [Server.Stall] and the other faults it
// says which requests they are for: those that are equal to it in the fields
// that are not empty. So Request{} is all of them, and Request{Verb: "list",
// Resource: "pods"} are the lists of pods, in each namespace and in all.
type Request struct {
	// Verb is one of get, list, watch, create, update, patch, delete and
	// deletecollection.
	Verb string
	// Group is "" for the core group, and Resource such as "pods".
	Group, Version, Resource, Subresource string
	// Namespace is "" also where the objects of all namespaces are asked for.
	Namespace, Name string
	// LabelSelector and FieldSelector are those of lists, watches and deletions
	// of collections.
	LabelSelector, FieldSelector string
	// UserAgent is what the client calls itself, and ContentType is what the body
	// is written in, which tells the forms of patches apart. Through a
	// [Source], both are empty.
	UserAgent, ContentType string
	// Body is what the request brings, its first 16 KiB. It is known in
	// [Server.Requests] alone: faults come first, and a request that meets one
	// is not read. No pattern selects by it.
	Body string

	// streams says that a watch asks for the initial state.
	streams bool
}

// is tells whether a request is one of those that a pattern stands for.
func (r Request) is(pattern Request) bool {
	wanted, has := pattern.fields(), r.fields()
	for i, field := range wanted {
		if field != "" && field != has[i] {
			return false
		}
	}
	return true
}

func (r Request) fields() [11]string {
	return [...]string{
		r.Verb, r.Group, r.Version, r.Resource, r.Subresource, r.Namespace, r.Name,
		r.LabelSelector, r.FieldSelector, r.UserAgent, r.ContentType,
	}
}

// selecting returns the request with the selectors of a list or a watch.
func (r Request) selecting(o internalversion.ListOptions) Request {
	if o.LabelSelector != nil {
		r.LabelSelector = o.LabelSelector.String()
	}
	if o.FieldSelector != nil {
		r.FieldSelector = o.FieldSelector.String()
	}
	return r
}

// resource is where the path of the request leads.
func (r Request) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// fillsStore tells whether the answer is a full state: a list, or a watch that
// begins with one.
func (r Request) fillsStore() bool { return r.Verb == "list" || r.streams }

// request says what is asked for at a path.
func (t target) request(verb string) Request {
	return Request{
		Verb:  verb,
		Group: t.resource.Group, Version: t.resource.Version, Resource: t.resource.Resource, Subresource: t.subresource,
		Namespace: t.namespace, Name: t.name,
	}
}

// begin keeps a request, and fails if it has no one to answer or to be
// answered, or meets a fault. It waits where a fault wants it to.
func (s *Server) begin(ctx context.Context, r Request) (kept *Request, err error) {
	s.mu.Lock()
	kept = s.journal.add(r)
	faults := slices.Clone(s.faults)
	err = s.openLocked(ctx)
	s.mu.Unlock()
	if err != nil || len(faults) == 0 {
		return kept, err
	}
	ctx, cancel := s.untilClosed(ctx)
	defer cancel()
	for _, f := range faults {
		if err := f.meet(ctx, r); err != nil {
			return kept, err
		}
	}
	return kept, context.Cause(ctx)
}

// untilClosed returns a context that ends with ctx, or with ErrClosed when the
// server is closed.
func (s *Server) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
