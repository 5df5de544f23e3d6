package sim_test

import (
	"fmt"

	"github.com/tidemark-k8s/tidemark/factory"
)

// The operations of users that pin a factory's informer, and stop and restart it.
const (
	pinInformer operation = "pin"    // a user gets an informer from For, with a handler of kind n
	stopOne     operation = "halt"   // one informer is stopped
	restartOne  operation = "revive" // one informer is restarted
)

// started is a context given to Start that has not ended.
type started struct{ cancel func() }

// expectedInformer predicts the state of a namespace's informer from the operations alone. It does
// not look at the factory's states.
type expectedInformer struct {
	made   bool // the informer exists
	users  int
	pinned bool
	spent  bool // the one run of a pinned informer is over
	halted bool // it was stopped
	ran    bool // it has run before
	runs   bool
	under  *started // the context that ends the run; nil for the last context of all
}

func (w *expectedInformer) run(under *started) { w.runs, w.ran, w.under = true, true, under }

func (w *expectedInformer) rent(alive bool) {
	w.made = true
	w.users++
	if !w.runs && !w.halted && alive {
		w.run(nil)
	}
}

func (w *expectedInformer) vacate() {
	w.users--
	w.runs = w.runs && (w.users > 0 || w.pinned)
}

func (w *expectedInformer) pin(alive bool) {
	w.made = true
	if w.pinned {
		return
	}
	w.pinned = true
	switch {
	case w.runs || w.halted:
	case w.ran && alive:
		w.run(nil)
	}
}

func (w *expectedInformer) launch(s *started) {
	switch {
	case !w.made || w.runs || w.halted:
	case w.pinned && !w.spent:
		w.run(s)
	case w.users > 0:
		w.run(nil)
	}
}

// expire handles the end of a context; alive says whether another context is left.
func (w *expectedInformer) expire(s *started, alive bool) {
	if !w.runs || w.under != s && (w.under != nil || alive) {
		return
	}
	w.runs, w.spent = false, w.pinned
	if w.users > 0 && alive {
		w.run(nil)
	}
}

func (w *expectedInformer) halt() { w.halted, w.runs = true, false }

// revive handles a restart, and reports whether the informer must list again.
func (w *expectedInformer) revive(alive bool) bool {
	if !w.ran && !w.halted {
		return false
	}
	if w.halted {
		w.halted, w.ran, w.spent = false, true, false
	}
	if (w.users > 0 || w.pinned) && alive {
		w.run(nil)
	}
	return w.runs
}

// doPinOperation plays pins, stops and restarts. It returns false for an impossible operation.
func (t *tenancy) doPinOperation(s step, of *source) bool {
	w := t.wishes[of.namespace]
	switch {
	case s.op == pinInformer && len(t.tenants) < 5:
		t.pinInformer(s, of)
	case s.op == stopOne && w.made:
		if w.halt(); !t.mutant.ignoresStop {
			t.must(factory.StopInformer[*pod](t.factories[of.namespace], factory.Scope{}))
		}
	case s.op == restartOne && w.made:
		if w.revive(len(t.starts) > 0) {
			t.began[of.namespace] = t.now(of.namespace)
			t.read[of.namespace] = of.fullStates()
		}
		if !t.mutant.ignoresRestart {
			t.must(factory.RestartInformer[*pod](t.factories[of.namespace], factory.Scope{}))
		}
	default:
		return false
	}
	return true
}

func (t *tenancy) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("the world is wrong: %v", err))
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
	t.wishes[of.namespace].pin(len(t.starts) > 0)
	delete(t.unused, of.namespace)
	t.addIndexAndHandler(one, s)
}

// unread returns the namespaces with a restarted informer that runs and has not listed yet.
func (t *tenancy) unread() (namespaces []string) {
	for _, s := range t.sources {
		if before, ok := t.read[s.namespace]; ok && t.wishes[s.namespace].runs && s.fullStates() == before {
			namespaces = append(namespaces, s.namespace)
		}
	}
	return namespaces
}
