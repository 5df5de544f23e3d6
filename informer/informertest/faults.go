package informertest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fault changes how the server handles some requests.
type fault struct {
	// meet returns the answer to a request, or nil to let the request pass.
	meet func(context.Context, Request) error
	// holds selects the watches that get no events until the fault is undone; nil selects none.
	holds *Request
	// over is closed when the fault is undone.
	over chan struct{}
}

// Intercept calls f with each client's request before the server handles it. If f returns an error, that
// error is the answer. Over HTTP, it should be an error of k8s.io/apimachinery/pkg/api/errors; any other
// error becomes a 500. f may call the server. It may also wait, and should then return when ctx ends. So a
// request can fail once, at random, or after an event. Undo ends the interception for later requests, and may
// be called twice.
//
// If several faults are active, a request passes through them in the order in which they began. Calls of the
// server's own methods are not affected.
func (s *Server) Intercept(f func(ctx context.Context, r Request) error) (undo func()) {
	return s.inject(&fault{meet: f, over: make(chan struct{})})
}

// Stall makes requests wait, like a server that hangs: the requests get no answer, and no connection breaks.
// Open watches that the pattern selects get no events. After resume everything continues, and the watches get
// the events that they have missed.
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

// Forbid refuses requests with 403, like a role without the necessary rule. As in a cluster, open watches
// continue. End them with [Server.CutWatches].
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

// heldLocked returns a channel that is closed when the fault that holds a watch is undone, or nil if no fault
// holds it.
func (s *Server) heldLocked(r Request) <-chan struct{} {
	for _, f := range s.faults {
		if f.holds != nil && r.is(*f.holds) {
			return f.over
		}
	}
	return nil
}

// errForbidden has the text of the RBAC authorizer's error.
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
