package sim_test

import (
	"fmt"

	"github.com/tidemark-k8s/tidemark/factory"
)

// pinInformer is the operation of a user who gets a factory's informer by For, with a handler of kind n.
const pinInformer operation = "pin"

// started is a context passed to Start.
type started struct {
	cancel func()
	ended  bool
}

// expectedInformer predicts the state of an informer of a factory only from the operations. It does not
// read the factory's states.
type expectedInformer struct {
	users    int
	pinned   bool
	outlived bool     // Start was called after it had stopped
	begun    *started // the context of its run; nil before the run
}

// stopped reports whether the informer has stopped because its context has ended.
func (w *expectedInformer) stopped() bool { return w.begun != nil && w.begun.ended }

// runs reports whether the informer runs. w may be nil.
func (w *expectedInformer) runs() bool {
	return w != nil && w.begun != nil && !w.begun.ended && (w.pinned || w.users > 0)
}

// use returns the informer that a factory has for its next user. It makes a new one if there is none, or
// if replaced says that it must be replaced.
func (t *tenancy) use(namespace string, replaced func(w *expectedInformer) bool) *expectedInformer {
	w := t.wishes[namespace]
	if w == nil || w.stopped() && replaced(w) {
		w = &expectedInformer{}
		t.wishes[namespace] = w
	}
	return w
}

func (t *tenancy) rent(namespace string) *expectedInformer {
	w := t.use(namespace, func(*expectedInformer) bool { return true })
	if w.users++; w.begun == nil {
		w.begun = t.latest()
	}
	return w
}

func (t *tenancy) request(namespace string) *expectedInformer {
	w := t.use(namespace, func(w *expectedInformer) bool { return w.outlived || !w.pinned })
	w.pinned = true
	return w
}

// vacate handles the release of a tenant's lease. An informer without users leaves its factory.
func (t *tenancy) vacate(one *tenant) {
	if one.uses.users--; one.uses.users == 0 && !one.uses.pinned && t.wishes[one.namespace] == one.uses {
		delete(t.wishes, one.namespace)
	}
}

// launch handles a Start.
func (t *tenancy) launch(s *started) {
	for _, w := range t.wishes {
		w.outlived = w.stopped()
		if w.begun == nil {
			w.begun = s
		}
	}
}

func (t *tenancy) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("the world is invalid: %v", err))
	}
}

// pinInformer pins an informer, and adds a handler.
func (t *tenancy) pinInformer(s step, of *source) {
	f := t.factories[of.namespace]
	one := newTenant(of)
	if t.mutant.ignoresPins {
		lease, err := factory.Acquire[*pod](f, factory.Scope{})
		t.must(err)
		one.informer = lease.Informer()
		defer lease.Release()
	} else {
		i, err := factory.For[*pod](f)
		t.must(err)
		one.informer = i
	}
	one.uses = t.request(of.namespace)
	t.addIndexAndHandler(one, s)
}
