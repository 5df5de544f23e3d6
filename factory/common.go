package factory

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// common is the part that all factories share. It makes informers by type or resource from the sources of a
// client, as the options say.
type common[K comparable] struct {
	table[K] // its mu also guards the fields that setters change

	namespace  string
	resync     time.Duration
	resyncs    map[K]time.Duration
	tweak      func(*metav1.ListOptions)
	transform  cache.TransformFunc
	decoding   reflector.Decoding
	storage    informer.Storage
	indexes    []indexer.Index[any]
	shards     map[K]shard.Assignment
	misuse     error // in the indexes; nil if they are valid
	name       *cache.InformerName
	identities map[K]cache.InformerNameAndResource // reserved in name, by kind
	configured map[K]informer.Options[any]

	known  func(K) (kind, error)
	source func(k kind, namespace string) (reflector.Source, error)
}

// init makes an empty table and sets the defaults.
func (c *common[K]) init(resync time.Duration, known func(K) (kind, error), source func(k kind, namespace string) (reflector.Source, error)) {
	c.entries, c.making = make(map[key[K]]*entry), make(map[key[K]]chan struct{})
	c.resync, c.resyncs = resync, make(map[K]time.Duration)
	c.configured = make(map[K]informer.Options[any])
	c.shards = make(map[K]shard.Assignment)
	c.identities = make(map[K]cache.InformerNameAndResource)
	c.known, c.source = known, source
}

// request returns the factory's unscoped informer of a kind, and marks it as requested. The caller holds mu.
func (c *common[K]) request(id K) (*entry, error) {
	at := key[K]{kind: id}
	e, ok := c.entries[at]
	if !ok || e.replacedByRequest(e.state()) {
		k, err := c.known(id)
		if err != nil {
			return nil, err
		}
		e = c.enter(at, use.replacedByRequest, c.maker(id, k, Scope{}, selection{}))
	}
	e.requested = true
	return e, nil
}

// shared is request for a kind known to exist.
func (c *common[K]) shared(id K) cache.SharedIndexInformer {
	c.mu.Lock()
	defer c.mu.Unlock()

	e, _ := c.request(id)
	return e.shared
}

// maker returns a function that makes the informer of a kind, restricted to a selection, with the factory's
// current options. The caller holds mu, but the function runs without it.
func (c *common[K]) maker(id K, k kind, scope Scope, s selection) func() *entry {
	with := c.settings(id, k)
	return func() *entry { return c.create(id, k, scope, s, with) }
}

func (c *common[K]) create(id K, k kind, scope Scope, s selection, with settings) *entry {
	namespaces := s.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{c.namespace}
	}
	var sources []func() (reflector.Source, error)
	for _, namespace := range namespaces {
		sources = append(sources, c.sourceOf(k, namespace, s.tweak))
	}
	i := build(k.object, sources, with)
	if c.name != nil && s.text == "" {
		_ = informer.SetMetrics(i, c.identity(id, k), nil) // cannot fail: the informer is of this module and has not started
	}
	return newEntry(i, k, scope)
}

// identity returns the name and resource of a kind's metrics. It is reserved once, and reused if the informer
// is dropped and made again. Callers never ask for the same kind at once, because table.make makes one
// informer of a key at a time.
func (c *common[K]) identity(id K, k kind) cache.InformerNameAndResource {
	c.mu.Lock()
	known, ok := c.identities[id]
	c.mu.Unlock()
	if !ok {
		known = c.name.WithResource(k.resource) // without mu, since it may log
		c.mu.Lock()
		c.identities[id] = known
		c.mu.Unlock()
	}
	return known
}

// settings returns the factory's options for an informer of a kind.
func (c *common[K]) settings(id K, k kind) settings {
	s := settings{
		resource:  k.resource.GroupResource(),
		resync:    c.resyncOf(id),
		transform: c.transform,
		decoding:  c.decoding,
		storage:   c.storage,
		indexes:   c.indexes,
		shard:     c.shards[id],
	}
	if o, ok := c.configured[id]; ok {
		s.configured = &o
	}
	return s
}

// sourceOf returns a function that makes the source of a kind in one namespace, or in all for "". The
// caller's tweak runs last, because the tweaks of the factory and of a registered source may overwrite the
// options.
func (c *common[K]) sourceOf(k kind, namespace string, tweak func(*metav1.ListOptions)) func() (reflector.Source, error) {
	return func() (reflector.Source, error) {
		source, err := c.source(k, namespace)
		source.Tweak = inOrder(c.tweak, source.Tweak, tweak)
		return source, err
	}
}

func (c *common[K]) resyncOf(id K) time.Duration {
	if resync, ok := c.resyncs[id]; ok {
		return resync
	}
	return c.resync
}

// exists reports whether the factory has an informer of a kind, or is making one. The caller holds mu.
func (c *common[K]) exists(id K) bool {
	for at := range c.entries {
		if at.kind == id {
			return true
		}
	}
	for at := range c.making {
		if at.kind == id {
			return true
		}
	}
	return false
}

// Start runs the requested informers that have not started yet, until stop is closed.
func (c *common[K]) Start(stop <-chan struct{}) { c.StartWithContext(wait.ContextForChannel(stop)) }

// StartWithContext runs the requested informers that have not started yet, until ctx ends. After Shutdown it
// starts nothing, and logs an error.
func (c *common[K]) StartWithContext(ctx context.Context) {
	if err := c.start(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "The factory starts no informers")
	}
}

// Shutdown ends the informers that are only leased, and waits until all informers have ended. The others end
// with the context or channel given to Start.
func (c *common[K]) Shutdown() {
	c.shutdown()
	c.runs.Wait()
	c.name.Release()
}

// WaitForCacheSync waits until the started informers are synced or stop is closed, and returns which of them
// are synced.
func (c *common[K]) WaitForCacheSync(stop <-chan struct{}) map[K]bool {
	synced, _ := c.synced(wait.ContextForChannel(stop))
	return synced
}
