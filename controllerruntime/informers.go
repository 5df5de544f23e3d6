package controllerruntime

import (
	"iter"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Informers are the informers of one manager, cluster or cache, see [Use] and [InformersOf].
type Informers struct {
	settings settings
	scheme   *runtime.Scheme

	mu      sync.Mutex
	running []running // in the order of their beginnings; some may have ended
}

// running is an informer that runs, or has run.
type running struct {
	kind     schema.GroupVersionKind // empty if the scheme does not know it
	example  runtime.Object
	informer informer.Shared
}

// All yields the informers that run when the loop begins, in the order in which they began. controller-runtime makes
// informers that it never starts, and removes others: neither are among them. Of several namespaces, each has an
// informer of its own. The resource is guessed from the kind, and the scope is empty: controller-runtime tells neither.
func (in *Informers) All() iter.Seq[factory.Held] {
	return func(yield func(factory.Held) bool) { held(in.live())(yield) }
}

// held yields what describes informers.
func held(all []running) iter.Seq[factory.Held] {
	return func(yield func(factory.Held) bool) {
		for _, r := range all {
			for h := range factory.Alone(r.resource(), factory.Scope{}, r.informer) {
				if !yield(h) {
					return
				}
			}
		}
	}
}

// live returns the informers that run, and forgets those that have ended.
func (in *Informers) live() []running {
	if in == nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()

	in.running = slices.DeleteFunc(in.running, running.ended)
	return slices.Clone(in.running)
}

// began adds an informer whose Run has begun. Those that have ended are forgotten, although nobody may ask for a list.
func (in *Informers) began(r running) {
	in.mu.Lock()
	defer in.mu.Unlock()

	in.running = append(slices.DeleteFunc(in.running, running.ended), r)
}

func (r running) ended() bool { return r.informer.IsStopped() }

// resource guesses the resource of the kind.
func (r running) resource() schema.GroupVersionResource {
	if r.kind.Empty() {
		return schema.GroupVersionResource{}
	}
	resource, _ := meta.UnsafeGuessKindToResource(r.kind)
	return resource
}

// newInformer is NewInformer of the cache's options. It leaves out the indexers: controller-runtime asks for the index
// of namespaces alone, which each informer has.
func (in *Informers) newInformer(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, _ toolscache.Indexers) toolscache.SharedIndexInformer {
	r := running{kind: in.kindOf(example), example: example}
	o := in.settings.optionsOf(example)
	o.Name, o.Resource, o.Resync, o.TransformDrops = nameOf(example), r.resource().GroupResource(), resync, stripped
	source := func() (reflector.Source, error) { // the informer calls it once, when it begins to run
		in.began(r)
		return reflector.FromControllerRuntime(lw, example), nil
	}
	r.informer = informer.JoinShared([]func() (reflector.Source, error){source}, reflect.TypeOf(example), o)
	return r.informer
}

// kindOf returns the kind of an object. It is empty if the scheme does not know it.
func (in *Informers) kindOf(obj runtime.Object) schema.GroupVersionKind {
	kind, _ := apiutil.GVKForObject(obj, in.scheme)
	return kind
}

// nameOf returns the name of an informer in messages: that of its kind if its Go type stands for many kinds, and
// otherwise "", for that of its type.
func nameOf(example runtime.Object) string {
	switch example.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		return example.GetObjectKind().GroupVersionKind().String()
	}
	return ""
}
