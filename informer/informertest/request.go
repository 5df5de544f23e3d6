package informertest

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request describes a request, in the terms of RBAC and authorization.k8s.io. As an argument of
// [Server.Stall] and [Server.Forbid], it is a pattern: it selects the requests that have the same values in
// all of its non-empty fields. Request{} selects all requests, and Request{Verb: "list", Resource: "pods"}
// selects all lists of pods.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection.
	Verb string
	// Group is "" for the core group. Resource is a plural name such as "pods".
	Group, Version, Resource, Subresource string
	// Namespace is "" for cluster-scoped objects, and for requests to all namespaces.
	Namespace, Name string
	// LabelSelector and FieldSelector are set in lists, watches and deletions of collections.
	LabelSelector, FieldSelector string
	// UserAgent is the name that the client sends. ContentType is the format of the body, which distinguishes
	// the types of patches. Both are empty for requests of a [Server.Source].
	UserAgent, ContentType string
	// Body holds the first 16 KiB of the request's body. Only [Server.Requests] sets it, because faults apply
	// before the body is read. Patterns ignore it.
	Body string

	// streams is set if a watch asks for the initial state.
	streams bool
}

// is reports whether a pattern selects a request.
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

// resource returns the resource of the request's path.
func (r Request) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// request returns the description of a request to a path.
func (t target) request(verb string) Request {
	return Request{
		Verb:  verb,
		Group: t.resource.Group, Version: t.resource.Version, Resource: t.resource.Resource, Subresource: t.subresource,
		Namespace: t.namespace, Name: t.name,
	}
}

// begin records a request. It returns an error if the server is closed, the client has gone away, or a fault
// answers. It waits as long as a fault requires.
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

// untilClosed returns a context that ends with ctx. When the server is closed, it ends with ErrClosed.
func (s *Server) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
