package factory

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// byResource is a factory whose informers are told apart by their resource:
// what the dynamic and the metadata factory have in common.
type byResource struct {
	registry[schema.GroupVersionResource]
	resync    time.Duration
	transform cache.TransformFunc
	decoding  reflector.Decoding
	build     func(schema.GroupVersionResource, settings) *member
}

// SetTransform sets the transform of the informers that are asked for from
// now on.
func (f *byResource) SetTransform(transform cache.TransformFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.transform = transform
}

// SetDecoding says how the informers that are asked for from now on decode their
// objects, see [WithDecoding].
func (f *byResource) SetDecoding(d reflector.Decoding) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.decoding = d
}

// ForResource returns the informer of a resource, made if there is none.
// Whether the server has the resource shows when the informer runs.
func (f *byResource) ForResource(resource schema.GroupVersionResource) informers.GenericInformer {
	f.mu.Lock()
	defer f.mu.Unlock()

	m := f.get(resource, func() *member {
		return f.build(resource, settings{resource: resource.GroupResource(), resync: f.resync, transform: f.transform, decoding: f.decoding})
	})
	return generic{m.shared, resource.GroupResource()}
}

// Start runs the informers that have been asked for and do not run yet, until
// stop is closed.
func (f *byResource) Start(stop <-chan struct{}) { f.StartWithContext(wait.ContextForChannel(stop)) }

// StartWithContext runs the informers that have been asked for and do not run
// yet, until ctx ends. After Shutdown it runs none, and says so to the log.
func (f *byResource) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.start(ctx)
}

// Shutdown waits until all informers have ended. It does not end them.
func (f *byResource) Shutdown() { f.shutdown() }

// WaitForCacheSync waits until the started informers are synced, or stop is
// closed, and tells which are.
func (f *byResource) WaitForCacheSync(stop <-chan struct{}) map[schema.GroupVersionResource]bool {
	synced, _ := f.wait(wait.ContextForChannel(stop))
	return synced
}
