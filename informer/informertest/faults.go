package informertest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fault affects some requests before they are served.
type fault struct {
	// meet returns the answer to a request, nil to let it pass.
	meet func(context.Context, Request) error
	// holds selects watches that get no events while the fault lasts; nil for none.
	holds *Request
	// over is closed when the fault is undone.
	over chan struct{}
}

// Intercept calls f with each request of any client before it is served. If f returns an error, it
// is the answer: over HTTP it should be one of k8s.io/apimachinery/pkg/api/errors; any other is a
// 500. F may wait, and should end with ctx; it may call the server. So a request can fail once, or
// at random, or after some event. Undo ends the interception for later requests; it may be called
// twice.
//
// The other faults are built on Intercept. A request meets all faults, the oldest first. Calls of
// the server's own methods meet none.
func (s *Server) Intercept(f func(ctx context.Context, r Request) error) (undo func()) {
	return s.inject(&fault{meet: f, over: make(chan struct{})})
}

// Stall makes requests wait, like a server that hangs: they get no answer, and no connection
// breaks. Open watches of these requests get no events either. After resume everything continues,
// and the watches get the events of the meantime.
func (s *Server) Stall(these Request) (resume func()) {
	over := make(chan struct{})
	return s.inject(&fault{over: over, holds: &these, meet: func(ctx context.Context, r Request) error {
		if !r.is(these) {
			return nil
		}
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}})
}

// Forbid refuses requests with 403, like a role that lacks a rule. As in a cluster, open watches go
// on: see [Server.CutWatches].
func (s *Server) Forbid(these Request) (allow func()) {
	return s.Intercept(func(_ context.Context, r Request) error {
		if !r.is(these) {
			return nil
		}
		return errForbidden(r)
	})
}

func (s *Server) inject(f *fault) (undo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.faults = slices.DeleteFunc(s.faults, func(other *fault) bool { return other == f })
		close(f.over)
	})
}

// heldLocked returns the channel that a watch waits for before it gets more events, nil if nothing
// holds it.
func (s *Server) heldLocked(r Request) <-chan struct{} {
	for _, f := range s.faults {
		if f.holds != nil && r.is(*f.holds) {
			return f.over
		}
	}
	return nil
}

// errForbidden is worded as the RBAC authorizer words it.
func errForbidden(r Request) error {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	where := "at the cluster scope"
	if r.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", r.Namespace)
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: r.Group, Resource: r.Resource}, r.Name,
		fmt.Errorf("User %q cannot %s resource %q in API group %q %s", "informertest", r.Verb, resource, r.Group, where)) //nolint:staticcheck // the capital is kube-apiserver's
}
