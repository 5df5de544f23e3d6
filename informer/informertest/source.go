package informertest

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// Source returns a source that reads the objects of a resource in a namespace, or in all namespaces if
// namespace is "". It behaves like a typed client, but without a network. Each returned object is a copy.
// Requests for an unknown resource fail with NotFound, as in a cluster without its CRD.
func (s *Server) Source(r schema.GroupVersionResource, namespace string) reflector.Source {
	c := typedClient{s, target{resource: r, namespace: namespace}}
	return reflector.Source{
		List: c.list, Watch: c.watch, Resource: r, Namespace: namespace,
		Streams: reflector.StreamingSupported, // a request shows whether the server streams an initial state
	}
}

// typedClient reads one collection of a server.
type typedClient struct {
	server *Server
	target target
}

// list returns the collection, or a page of it, as the kind's list type.
func (c typedClient) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	options, err := internalOptions(o)
	if err != nil {
		return nil, err
	}
	list, err := c.server.list(ctx, c.target.request("list"), options)
	if err != nil {
		return nil, refused(err)
	}
	return list.DeepCopyObject(), nil
}

// watch opens a watch, which ends with ctx, at its timeout, at Stop, or when the server ends it.
func (c typedClient) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	options, err := internalOptions(o)
	if err != nil {
		return nil, err
	}
	if !c.server.enter() {
		return nil, refused(ErrClosed)
	}
	stream, err := c.server.stream(ctx, c.target.request("watch"), options)
	if err != nil {
		c.server.running.Done()
		return nil, refused(err)
	}
	w := &watcher{stream: stream, events: make(chan watch.Event)}
	go w.run()
	return w, nil
}

// list answers a list request. It shares the items with the model.
func (s *Server) list(ctx context.Context, request Request, o internalversion.ListOptions) (runtime.Object, error) {
	if _, err := s.begin(ctx, request.selecting(o)); err != nil {
		return nil, err
	}
	o.Watch = false
	s.mu.Lock()
	k, p, err := s.model.list(request.resource(), request.Namespace, o)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return k.listOf(p)
}

// internalOptions parses the selectors, as a server does.
func internalOptions(o metav1.ListOptions) (internal internalversion.ListOptions, err error) {
	if err := internalversion.Convert_v1_ListOptions_To_internalversion_ListOptions(&o, &internal, nil); err != nil {
		return internal, apierrors.NewBadRequest(err.Error())
	}
	return internal, nil
}

// refused adds a connection error to ErrClosed, because clients of a stopped server get one.
func refused(err error) error {
	if errors.Is(err, ErrClosed) {
		return fmt.Errorf("%w: %w", ErrClosed, syscall.ECONNREFUSED)
	}
	return err
}

// watcher sends a stream's events to its reader, one by one.
type watcher struct {
	stream *stream
	events chan watch.Event
}

// ResultChan returns the channel of the events, which is closed when the watch ends.
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

// Stop ends the watch. It does not wait.
func (w *watcher) Stop() { w.stream.cancel() }

func (w *watcher) run() {
	defer w.stream.server.running.Done()
	defer close(w.events)
	defer w.stream.close()
	for events := w.stream.next(); events != nil; events = w.stream.next() {
		for _, e := range events {
			e.Object = e.Object.DeepCopyObject()
			select {
			case w.events <- e:
			case <-w.stream.ctx.Done():
				return
			}
		}
	}
}
