package informertest

import (
	"context"
	"slices"
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

func (r Request) fields() [7]string {
	return [...]string{r.Verb, r.Group, r.Version, r.Resource, r.Subresource, r.Namespace, r.Name}
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

// begin counts a request, and fails if it has no one to answer or to be
// answered, or meets a fault. It waits where a fault wants it to.
func (s *Server) begin(ctx context.Context, r Request, count *int) error {
	s.mu.Lock()
	*count++
	faults := slices.Clone(s.faults)
	err := s.openLocked(ctx)
	s.mu.Unlock()
	if err != nil || len(faults) == 0 {
		return err
	}
	ctx, cancel := s.untilClosed(ctx)
	defer cancel()
	for _, f := range faults {
		if err := f.meet(ctx, r); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
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
