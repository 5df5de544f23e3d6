package reflector

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// OwnWrites shows a program's informers what the program itself writes. When a client's call
// returns, the created, changed or deleted object is in their stores, and their handlers get each
// change once. Wrap the config before you make the clients:
//
//	own := reflector.NewOwnWrites()
//	config.Wrap(own.Wire)
//
// Informers whose requests pass through Wire get the program's writes without further setup. An
// OwnWrites serves one API server and one identity. Any goroutine may call its methods.
//
// OwnWrites is experimental: its names, and which answers it shows, may change.
type OwnWrites struct {
	made ownwrites.Made

	mu          sync.Mutex // held to replace the subscribers
	subscribers atomic.Pointer[map[ownwrites.Kin][]*subscriber]
}

// NewOwnWrites returns an OwnWrites for the clients of a rest.Config.
func NewOwnWrites() *OwnWrites { return &OwnWrites{} }

// Wire wraps a client's transport. It does everything that the function [Wire] does. It also passes
// the answers to writes to the informers that read the same objects of the same server, as the same
// impersonated user. These informers use clients of the same config, and come from the factories or
// from [FromGenerated], [FromCustomResource], [FromDynamic], [FromMetadata] and
// [FromControllerRuntime].
//
// A write waits for the informers for at most a second. It does not wait for an informer that has
// not finished an earlier answer in that time. Its own answer and error do not change. Writes of
// kinds that no informer reads pass through, as do exec, attach, port-forward, log, proxy and token
// requests. If an answer is larger than 16 MB or unreadable, the informers get the result from
// their watches.
//
// Call Wrap with Wire last, so that Wire sees what the client gets. If a transport refuses to send
// a write, its error should have a method "NotSent() bool" that returns true. After any other
// error, the write may have happened.
func (o *OwnWrites) Wire(next http.RoundTripper) http.RoundTripper {
	return ownWire{wire.Transport{Next: next}, o}
}

// Made reports whether a single write by a writer (see [WithWriter]) turned old into new, so that
// the writer's controller can skip the change:
//
//	if own.Made("scaler", old, new) {
//		return
//	}
//
// It is true for a creation, where old is nil, and for a write whose precondition was old's
// version: a PUT or patch with a resourceVersion. For any other change, which may include another
// writer's, Made is false. Made remembers the last 4,096 writes, until the server's history goes
// back.
//
// Made does not wait. A change often arrives before the answer to its write, and Made is false
// until the answer arrives. So call Made when a worker takes the object's key: by then, the
// worker's own write has returned.
func (o *OwnWrites) Made(writer string, old, new metav1.Object) bool { //nolint:predeclared // as in a handler
	if object.IsNil(new) {
		return false
	}
	from := ""
	if !object.IsNil(old) {
		if from = old.GetResourceVersion(); from == "" || old.GetUID() != new.GetUID() {
			return false
		}
	}
	return o.made.Is(writer, string(new.GetUID()), from, new.GetResourceVersion())
}

// writerKey is the key of a writer's name in a request's context.
type writerKey struct{}

// WithWriter returns a context for requests of the named writer, see [OwnWrites.Made]. Give each
// controller of a program its own name. Without WithWriter, the name is "".
func WithWriter(ctx context.Context, writer string) context.Context {
	return context.WithValue(ctx, writerKey{}, writer)
}

// ownWire is the transport of an OwnWrites.
type ownWire struct {
	wire.Transport
	own *OwnWrites
}

// RoundTrip sends the request.
func (w ownWire) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return w.own.send(w.Next, r)
	case http.MethodGet:
		if s, ok := wire.SenderOf(r).(*subscriber); ok {
			s.asks(w.own, r)
		}
	}
	return w.Transport.RoundTrip(r)
}

// subscribersOf returns the subscribers of a write's resource and namespace.
func (o *OwnWrites) subscribersOf(t ownwrites.Target, r *http.Request) []*subscriber {
	all := o.subscribers.Load()
	if all == nil {
		return nil
	}
	var found []*subscriber
	if linked := (*all)[t.Kin()]; len(linked) > 0 {
		at := originOf(t, r)
		for _, l := range linked {
			if l.origin == at && l.covers(t) {
				found = append(found, l)
			}
		}
	}
	return found
}

// change replaces the subscribers of a resource.
func (o *OwnWrites) change(of ownwrites.Kin, to func([]*subscriber) []*subscriber) {
	o.mu.Lock()
	defer o.mu.Unlock()

	all := map[ownwrites.Kin][]*subscriber{}
	if before := o.subscribers.Load(); before != nil {
		all = maps.Clone(*before)
	}
	if all[of] = to(slices.Clone(all[of])); len(all[of]) == 0 {
		delete(all, of)
	}
	o.subscribers.Store(&all)
}
