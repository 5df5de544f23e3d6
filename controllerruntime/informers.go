package controllerruntime

import (
	"iter"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Informers are the informers of a manager, cluster or cache, see [Use] and [InformersOf].
type Informers struct {
	settings settings
	scheme   *runtime.Scheme
	ready    check

	mu      sync.Mutex
	running []running // in the order of their beginnings
}

// running is an informer that runs.
type running struct {
	kind     schema.GroupVersionKind // empty if the scheme does not know it
	example  runtime.Object
	informer informer.Shared
}

func newInformers(s settings, known *runtime.Scheme) *Informers {
	in := &Informers{settings: s, scheme: known}
	in.ready.informers = in
	return in
}

// All yields the informers that run when the loop begins, in the order of their starts. It leaves
// out those that controller-runtime has not started or has removed. Each of several namespaces has
// its own informer. All guesses the resource from the kind and leaves the scope empty, because
// controller-runtime does not pass them.
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

// live returns the informers that run.
func (in *Informers) live() []running {
	if in == nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()

	return slices.Clone(in.running)
}

// began adds an informer whose Run has begun, until it ends. A goroutine waits for the end: the metrics list the
// informers of all managers, and those in another testing/synctest bubble must not be asked whether they run.
func (in *Informers) began(r running) {
	in.change(func(all []running) []running { return append(all, r) })
	go func() {
		<-r.informer.Done()
		in.change(func(all []running) []running {
			return slices.DeleteFunc(all, func(other running) bool { return other.informer == r.informer })
		})
	}()
}

// change updates this list and the list of the process.
func (in *Informers) change(to func([]running) []running) {
	in.mu.Lock()
	defer in.mu.Unlock()

	in.running = to(in.running)
	process.change(in, len(in.running) > 0)
}

// resource guesses the resource of the kind.
func (r running) resource() schema.GroupVersionResource {
	if r.kind.Empty() {
		return schema.GroupVersionResource{}
	}
	resource, _ := meta.UnsafeGuessKindToResource(r.kind)
	return resource
}

// newInformer is NewInformer of the cache's options. It leaves out the indexers: controller-runtime asks only for the
// index of namespaces, which each informer has.
func (in *Informers) newInformer(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, _ toolscache.Indexers) toolscache.SharedIndexInformer {
	r := running{kind: in.kindOf(example), example: example}
	o := in.settings.optionsOf(example)
	if ofManyKinds(example) { // otherwise it is named after its type
		o.Name = r.kind.String()
	}
	o.Resource, o.Resync, o.HandlerName, o.TransformDrops = r.resource().GroupResource(), resync, r.kind.Kind, stripped
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
