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

// started is a context given to Start.
type started struct {
	cancel func()
	ended  bool
}

// expectedInformer predicts the state of a namespace's informer from the operations alone. It does
// not look at the factory's states.
type expectedInformer struct {
	made   bool // the informer exists
	users  int
	pinned bool
	waits  bool     // the pin waits for a Start
	pin    *started // the context of the pin; nil for none
	halted bool     // it was stopped
	ran    bool     // it has run before
	runs   bool
}

func (w *expectedInformer) pinLives() bool { return w.pin != nil && !w.pin.ended }

// hold gives a pin that waits the context of the latest Start, nil for none.
func (w *expectedInformer) hold(latest *started) {
	if w.waits && !w.pinLives() {
		w.pin = latest
	}
}

// update makes the informer run, or not, as the rule says.
func (w *expectedInformer) update(latest *started) {
	w.runs = !w.halted && (w.pinLives() || w.users > 0 && latest != nil)
	w.ran = w.ran || w.runs
}

func (w *expectedInformer) rent(latest *started) {
	w.made = true
	w.users++
	w.hold(latest)
	w.update(latest)
}

func (w *expectedInformer) vacate(latest *started) {
	w.users--
	w.update(latest)
}

func (w *expectedInformer) request(latest *started) {
	w.made = true
	if w.pinned {
		return
	}
	w.pinned, w.waits = true, true
	if w.ran {
		w.hold(latest)
	}
	w.update(latest)
}

func (w *expectedInformer) launch(s *started) {
	if !w.made {
		return
	}
	if w.waits {
		w.waits, w.pin = false, s
	}
	w.update(s)
}

// expire handles the end of a context; latest is the latest of the others.
func (w *expectedInformer) expire(latest *started) { w.update(latest) }

func (w *expectedInformer) halt() { w.halted, w.runs = true, false }

// revive handles a restart, and reports whether the informer must list again.
func (w *expectedInformer) revive(latest *started) bool {
	if !w.ran && !w.halted {
		return false
	}
	w.waits = w.waits || w.pinned && !w.pinLives()
	w.hold(latest)
	w.halted = false
	w.update(latest)
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
		if w.revive(t.latest()) {
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
	t.wishes[of.namespace].request(t.latest())
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
