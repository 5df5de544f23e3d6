package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
)

// subject is an informer of pods with the index by namespace, of whichever
// implementation.
type subject interface {
	handle(*counter) error
	run(context.Context) error
	get(namespace, name string) (*corev1.Pod, error)
}

// shared is client-go's informer, or tidemark's that looks like it.
type shared struct{ cache.SharedIndexInformer }

func (s shared) handle(c *counter) error {
	_, err := s.AddEventHandler(c.shared())
	return err
}

func (s shared) run(ctx context.Context) error {
	s.RunWithContext(ctx)
	return nil
}

func (s shared) get(namespace, name string) (*corev1.Pod, error) {
	return s.lister().Pods(namespace).Get(name)
}

// lister is client-go's generated one.
func (s shared) lister() corelisters.PodLister { return corelisters.NewPodLister(s.GetIndexer()) }

// own is tidemark's informer.
type own struct {
	*informer.Informer[*corev1.Pod]
}

func (s own) handle(c *counter) error {
	_, err := s.Handle(c.native(), informer.HandlerOptions{})
	return err
}

func (s own) run(ctx context.Context) error { return s.Run(ctx) }

func (s own) get(namespace, name string) (*corev1.Pod, error) {
	return s.Lister().Namespace(namespace).Get(name)
}

// newSubject makes an informer of a feed.
func newSubject(i implementation, f *feed) subject {
	switch i {
	case clientgo:
		return shared{cache.NewSharedIndexInformer(listerWatcher{f}, &corev1.Pod{}, 0, byNamespace())}
	case face:
		return shared{informer.NewSharedIndexInformer(listerWatcher{f}, &corev1.Pod{}, 0, byNamespace())}
	default:
		return own{informer.New(f, informer.Options[*corev1.Pod]{Resource: schema.GroupResource{Resource: "pods"}})}
	}
}

func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// started is an informer that runs.
type started struct {
	subject
	counters       []*counter
	added, updated chan struct{} // get one from each handler
	cancel         context.CancelFunc
	ended          chan error
}

// start runs an informer with some handlers that expect the same.
func start(i implementation, f *feed, handlers int, want tally) (*started, error) {
	s := &started{
		subject: newSubject(i, f),
		added:   make(chan struct{}, handlers),
		updated: make(chan struct{}, handlers),
		ended:   make(chan error, 1),
	}
	for range handlers {
		c := &counter{want: want, added: s.added, updated: s.updated}
		s.counters = append(s.counters, c)
		if err := s.handle(c); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() { s.ended <- s.run(ctx) }()
	return s, nil
}

// patience is how long anything may take that is waited for.
const patience = 5 * time.Minute

var errPatience = fmt.Errorf("nothing happens for %v", patience)

// all waits until each handler was told all that it should be of one kind.
func (s *started) all(told <-chan struct{}) error {
	for range s.counters {
		if _, err := receive(told); err != nil {
			return err
		}
	}
	return nil
}

// receive waits for a value.
func receive[T any](from <-chan T) (v T, err error) {
	select {
	case v = <-from:
		return v, nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v = <-from:
		return v, nil
	case <-timer.C:
		return v, errPatience
	}
}

// stop ends the informer, waits for its end, and tells whether the handlers
// were told what they should be, no less and no more.
func (s *started) stop() error {
	s.cancel()
	_, err := receive(s.ended)
	for _, c := range s.counters {
		err = errors.Join(err, c.check())
	}
	return err
}
