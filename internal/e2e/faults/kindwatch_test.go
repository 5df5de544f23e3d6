package faults

import (
	"fmt"
	"maps"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// kindWatch is an informer of one of many kinds with client-go's API. Its handler keeps a view: the
// identity of each object by name.
type kindWatch struct {
	resource schema.GroupVersionResource
	informer cache.SharedIndexInformer

	mu    sync.Mutex
	seen  map[string]string
	wrong []string
}

var _ cache.ResourceEventHandler = (*kindWatch)(nil)

// OnAdd adds a new object to the view.
func (k *kindWatch) OnAdd(obj any, _ bool) {
	k.mu.Lock()
	defer k.mu.Unlock()

	name, is := nameOf(obj)
	k.expect(name, "")
	k.seen[name] = is
}

// OnUpdate updates an object in the view.
func (k *kindWatch) OnUpdate(old, obj any) {
	k.mu.Lock()
	defer k.mu.Unlock()

	name, was := nameOf(old)
	k.expect(name, was)
	_, k.seen[name] = nameOf(obj)
}

// OnDelete removes an object from the view.
func (k *kindWatch) OnDelete(obj any) {
	k.mu.Lock()
	defer k.mu.Unlock()

	if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = lost.Obj
	}
	name, _ := nameOf(obj)
	if k.seen[name] == "" {
		k.wrong = append(k.wrong, name+" was deleted, but is not in the view")
	}
	delete(k.seen, name)
}

// expect records a problem if the view has another identity for a name.
func (k *kindWatch) expect(name, is string) {
	if k.seen[name] != is {
		k.wrong = append(k.wrong, fmt.Sprintf("%s is %q in the view, want %q", name, k.seen[name], is))
	}
}

func (k *kindWatch) complaints() []string {
	k.mu.Lock()
	defer k.mu.Unlock()

	return k.wrong
}

// differs returns an error if the cache or the view differs from the server's objects.
func (k *kindWatch) differs(truth map[string]string) error {
	cached := map[string]string{}
	for _, obj := range k.informer.GetStore().List() {
		name, is := nameOf(obj)
		cached[name] = is
	}
	if !maps.Equal(cached, truth) {
		return fmt.Errorf("the server has %v, but the cache has %v", truth, cached)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !maps.Equal(k.seen, truth) {
		return fmt.Errorf("the server has %v, but the handler has %v", truth, k.seen)
	}
	return nil
}

func nameOf(obj any) (name, is string) {
	o := obj.(metav1.Object)
	return indexer.Key{Namespace: o.GetNamespace(), Name: o.GetName()}.String(), string(o.GetUID()) + "@" + o.GetResourceVersion()
}
