package factory

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// common is what all factories are: informers by type or resource, made as the options
// say over the sources of a client.
type common[K comparable] struct {
	table[K] // its mu guards what may be set later, too

	namespace  string
	resync     time.Duration
	resyncs    map[K]time.Duration
	tweak      func(*metav1.ListOptions)
	transform  cache.TransformFunc
	decoding   reflector.Decoding
	name       *cache.InformerName
	identities map[K]cache.InformerNameAndResource // what name has reserved
	configured map[K]informer.Options[any]

	known  func(K) (kind, error)
	source func(k kind, namespace string) reflector.Source
}

// defaultKeep is how long an informer that nobody uses any more is kept by default.
const defaultKeep = 5 * time.Minute

// init makes an empty table, and sets what all factories begin with.
func (c *common[K]) init(resync time.Duration, known func(K) (kind, error), source func(k kind, namespace string) reflector.Source) {
	c.entries = make(map[key[K]]*entry)
	c.keep = defaultKeep
	c.resync, c.resyncs = resync, make(map[K]time.Duration)
	c.configured = make(map[K]informer.Options[any])
	c.identities = make(map[K]cache.InformerNameAndResource)
	c.known, c.source = known, source
}

// of returns the informer of all that the factory has of a kind, made if there is
// none, for somebody who asks for it. The caller holds mu, and awaits ready when it
// does not any more.
func (c *common[K]) of(id K) (e *entry, ready <-chan struct{}, err error) {
	at := key[K]{kind: id}
	c.dropStopped(at)
	e, ok := c.entries[at]
	if !ok {
		k, err := c.known(id)
		if err != nil {
			return nil, nil, err
		}
		e = c.enter(at, func() *entry { return c.create(id, k, Scope{}, selection{}) })
	}
	return e, c.pin(e), nil
}

// shared is of, for a kind that is known.
func (c *common[K]) shared(id K) cache.SharedIndexInformer {
	c.mu.Lock()
	e, ready, _ := c.of(id)
	c.mu.Unlock()
	await(ready)
	return e.shared
}

// create makes the informer of what a selection leaves of a kind. The caller holds mu.
func (c *common[K]) create(id K, k kind, scope Scope, s selection) *entry {
	namespaces := s.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{c.namespace}
	}
	var sources []reflector.Source
	for _, namespace := range namespaces {
		sources = append(sources, c.sourceOf(k, namespace, s.tweak))
	}
	i := build(k.object, sources, c.settings(id, k))
	if c.name != nil && s.text == "" {
		_ = informer.Measure(i, c.identity(id, k), nil) // it is ours, and has not started
	}
	return newEntry(i, k, scope)
}

// identity returns what the informer of a kind publishes its metrics under. It is
// reserved once, for the one that is made after the first was dropped too.
func (c *common[K]) identity(id K, k kind) cache.InformerNameAndResource {
	known, ok := c.identities[id]
	if !ok {
		known = c.name.WithResource(k.resource)
		c.identities[id] = known
	}
	return known
}

func (c *common[K]) settings(id K, k kind) settings {
	s := settings{
		resource:  k.resource.GroupResource(),
		resync:    c.resyncOf(id),
		transform: c.transform,
		decoding:  c.decoding,
	}
	if o, ok := c.configured[id]; ok {
		s.configured = &o
	}
	return s
}

// sourceOf returns the source of a kind in one namespace, or all for "". The caller's
// tweak comes after the factory's, which may overwrite what it finds.
func (c *common[K]) sourceOf(k kind, namespace string, tweak func(*metav1.ListOptions)) reflector.Source {
	source := newLater(func() reflector.Source { return c.source(k, namespace) })
	return reflector.Tweak(reflector.Tweak(source, tweak), c.tweak)
}

func (c *common[K]) resyncOf(id K) time.Duration {
	if resync, ok := c.resyncs[id]; ok {
		return resync
	}
	return c.resync
}

// made tells whether the factory has an informer of a kind. The caller holds mu.
func (c *common[K]) made(id K) bool {
	for at := range c.entries {
		if at.kind == id {
			return true
		}
	}
	return false
}

// Start runs the informers that have been asked for and do not run yet, until
// stop is closed.
func (c *common[K]) Start(stop <-chan struct{}) { c.StartWithContext(wait.ContextForChannel(stop)) }

// StartWithContext runs the informers that have been asked for and do not run
// yet, until ctx ends. After Shutdown it runs none, and says so to the log.
func (c *common[K]) StartWithContext(ctx context.Context) { c.start(ctx) }

// Shutdown ends the informers that are only leased, and waits until all have ended.
// The others it does not end; ending the context or channel that Start was given does.
func (c *common[K]) Shutdown() {
	c.shutdown()
	c.name.Release()
}

// WaitForCacheSync waits until the started informers are synced, or stop is
// closed, and tells which are.
func (c *common[K]) WaitForCacheSync(stop <-chan struct{}) map[K]bool {
	synced, _ := c.synced(wait.ContextForChannel(stop))
	return synced
}
