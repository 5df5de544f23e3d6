package informertest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fault is what some requests meet before they are served.
type fault struct {
	// meet returns what a request is answered with, nil to let it pass.
	meet func(context.Context, Request) error
	// holds says which watches get nothing while the fault lasts; nil for none.
	holds *Request
	// over is closed when the fault is undone.
	over chan struct{}
}

// Intercept has f look at each request before it is served, from whatever
// client. Where f returns an error, that is the answer: over HTTP it should be
// one of k8s.io/apimachinery/pkg/api/errors, and anything else is a 500. F may
// wait, and ought to end with ctx; it may call the server. So a request can
// fail once, or at random, or after something has happened. Undo ends it for the
// requests that come later; it may be called twice.
//
// The other faults are made of this. Requests meet all that are there, the
// oldest first. The methods of the server itself meet none.
func (s *Server) Intercept(f func(ctx context.Context, r Request) error) (undo func()) {
	return s.inject(&fault{meet: f, over: make(chan struct{})})
}

// Stall lets requests wait, as a server does that hangs: nothing is answered,
// and no connection breaks. Watches that are open get no events either, if their
// request is one of these. Resume lets all of it go on from where it is; what
// happened meanwhile is told then.
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

// Forbid refuses requests, with 403, as a role does that lacks a rule. As in a
// cluster, watches that are open go on: see [Server.CutWatches].
func (s *Server) Forbid(these Request) (allow func()) {
	return s.Intercept(func(_ context.Context, r Request) error {
		if !r.is(these) {
			return nil
		}
		return errForbidden(r)
	})
}

// SlowList makes each answer that is a full state take some time: that of a
// list, each page anew, and that of a watch which begins with the initial state.
// It is virtual time inside a testing/synctest bubble. Undo ends the waiting too.
func (s *Server) SlowList(of Request, by time.Duration) (undo func()) {
	over := make(chan struct{})
	return s.inject(&fault{over: over, meet: func(ctx context.Context, r Request) error {
		if !r.is(of) || !r.fillsStore() {
			return nil
		}
		timer := time.NewTimer(by)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}})
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

// heldLocked returns what a watch waits for before it gets more events: nil if
// nothing holds it.
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
