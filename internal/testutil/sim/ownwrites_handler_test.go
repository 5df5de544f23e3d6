package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// ownEvent is a call of a handler in a world of own writes.
type ownEvent = kit.Change[kit.APIObject]

// ownHandler records the events of a handler.
type ownHandler struct {
	name   string
	merged bool
	known  map[key]kit.APIObject // by stored keys; used by the driver

	mu     sync.Mutex
	events []ownEvent // events that were not checked yet; guarded by mu
}

// handleOwn adds a typed handler.
func handleOwn[T informer.Object](s informer.Shared, o informer.HandlerOptions, f func(ownEvent)) informer.Registration {
	typed, _ := informer.As[T](s)
	object := func(o T) kit.APIObject {
		var none T
		if o == none {
			return nil
		}
		return any(o).(kit.APIObject)
	}
	reg, err := typed.Handle(informer.HandlerFunc[T](func(c informer.Change[T]) {
		f(ownEvent{Kind: c.Kind.String(), Old: object(c.Old), New: object(c.New), Initial: c.Initial, Lost: c.Lost})
	}), o)
	must(err)
	return reg
}

// handleOwnKeys adds a handler that gets keys.
func handleOwnKeys[T informer.Object](s informer.Shared, f func(key)) informer.Registration {
	typed, _ := informer.As[T](s)
	reg, err := typed.HandleKeys(f, informer.HandlerOptions{})
	must(err)
	return reg
}

// addHandlers adds the handlers of a world: typed handlers with both deliveries, and client-go's.
func (w *ownWorld) addHandlers() {
	add := func(name string, merged bool) *ownHandler {
		h := &ownHandler{name: name, merged: merged, known: map[key]kit.APIObject{}}
		w.handlers = append(w.handlers, h)
		return h
	}
	every, latest, clientgo := add("every", false), add("latest", true), add("client-go", false)
	w.registrations = append(w.registrations, w.kind.handle(w.informer, informer.HandlerOptions{}, func(e ownEvent) {
		w.ask(e)
		w.tell(every, e)
	}), w.kind.handle(w.informer, informer.HandlerOptions{Delivery: informer.Latest}, func(e ownEvent) {
		time.Sleep(20 * time.Millisecond)
		w.tell(latest, e)
	}), w.kind.keys(w.informer, func(k key) {
		w.asked.Lock()
		defer w.asked.Unlock()
		w.keyed = append(w.keyed, k)
	}))
	_, err := w.informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, initial bool) {
			w.tell(clientgo, ownEvent{Kind: "added", New: o.(kit.APIObject), Initial: initial})
		},
		UpdateFunc: func(o, n any) {
			w.tell(clientgo, ownEvent{Kind: "updated", Old: o.(kit.APIObject), New: n.(kit.APIObject)})
		},
		DeleteFunc: func(o any) {
			tombstone, lost := o.(cache.DeletedFinalStateUnknown)
			if lost {
				o = tombstone.Obj
			}
			w.tell(clientgo, ownEvent{Kind: "deleted", Old: o.(kit.APIObject), Lost: lost})
		},
	})
	must(err)
}

func (w *ownWorld) tell(h *ownHandler, e ownEvent) {
	for _, o := range []*kit.APIObject{&e.Old, &e.New} {
		w.frozen.note(*o)
		*o = w.one(*o)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, w.mutant.event(e)...)
}

// madeAnswer is a result of Made.
type madeAnswer struct {
	writer string
	event  ownEvent
	made   bool
}

// ask asks Made about an add or an update.
func (w *ownWorld) ask(e ownEvent) {
	if e.New == nil {
		return
	}
	for _, writer := range []string{"a", "b"} {
		made := w.follows.Made(writer, e.Old, e.New) // Old is nil for a creation
		if w.mutant.madeByVersion {
			made = e.New.GetAnnotations()["author"] == writer
		}
		w.asked.Lock()
		w.answers = append(w.answers, madeAnswer{writer, e, made})
		w.asked.Unlock()
	}
}

// take returns the events that were not checked yet.
func (h *ownHandler) take() []ownEvent {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.events
	h.events = nil
	return taken
}

// eventsWrong checks that the events of each handler are consistent, show real states, and lead to the
// content of the store.
func eventsWrong(w *ownWorld) (problems []string) {
	for _, h := range w.handlers {
		for _, e := range h.take() {
			k := keyOfAny(e.Subject())
			w.trace.add(h.name, "%s", spellEvent(e))
			if h.name == "every" {
				w.changed = append(w.changed, k)
			}
			for _, wrong := range w.eventWrong(h, e, h.known[k]) {
				problems = append(problems, fmt.Sprintf("%s has %s of %s: %s", h.name, wrong, k, spellEvent(e)))
			}
			if h.known[k] = e.New; e.New == nil {
				delete(h.known, k)
			}
		}
		stored := w.stored()
		for k := range stored {
			if h.known[k] == nil {
				h.known[k] = nil
			}
		}
		for k, known := range h.known {
			if w.touched[k] {
				h.known[k] = stored[k]
			} else if known != stored[k] {
				problems = append(problems, fmt.Sprintf("%s knows %s, but the store has %s", h.name, spellOwn(known), spellOwn(stored[k])))
			}
			if h.known[k] == nil {
				delete(h.known, k)
			}
		}
	}
	slices.Sort(problems)
	return problems
}

func (w *ownWorld) eventWrong(h *ownHandler, e ownEvent, known kit.APIObject) (problems []string) {
	say := func(what string) {
		if what != "" {
			problems = append(problems, what)
		}
	}
	say(e.WrongFlags())
	k := keyOfAny(e.Subject())
	unknown := e.Kind == "deleted" && known == nil && !e.Lost && w.setup.sources == "zones" // because another source deleted it
	if !w.touched[k] && !unknown {
		say(e.WrongKind(known))
		say(e.WrongObjects(known, h.merged))
		if !w.doubtful {
			say(w.partingWrong(e))
		}
	}
	if e.Kind == "updated" && !w.touched[k] && !w.doubtful {
		switch old, now := versionOf(e.Old), versionOf(e.New); {
		case old == now:
			say("an update that changes nothing")
		case old > now:
			say("an update that goes back")
		}
	}
	if e.New != nil && !w.touched[k] {
		say(w.unreal(e.New))
	}
	return problems
}

// keysWrong checks that the handler of keys is called for each change that the handler with every event
// gets.
func keysWrong(w *ownWorld) (problems []string) {
	w.asked.Lock()
	defer w.asked.Unlock()
	if !slices.Equal(w.keyed, w.changed) {
		problems = append(problems, fmt.Sprintf("the handler of keys got %v, but %v have changed", w.keyed, w.changed))
	}
	w.keyed, w.changed = nil, nil
	return problems
}

// madeWrong checks that Made is true only for a change that is a single write by the writer.
func madeWrong(w *ownWorld) (problems []string) {
	w.asked.Lock()
	defer w.asked.Unlock()
	for _, a := range w.answers {
		w.reach("made", a.made)
		if a.made && !w.oneWrite(a) {
			problems = append(problems, fmt.Sprintf("Made says that %s has made %s by a single write, but it has not", a.writer, spellEvent(a.event)))
		}
	}
	w.answers = nil
	return problems
}

// oneWrite reports whether a change is a single write by a writer in some history.
func (w *ownWorld) oneWrite(a madeAnswer) bool {
	for _, h := range w.histories() {
		s, before, ok := h.at(keyOfAny(a.event.New), versionOf(a.event.New))
		follows := a.event.Old == nil && before.gone || a.event.Old != nil && before.version == versionOf(a.event.Old)
		if ok && !s.gone && s.author == a.writer && follows {
			return true
		}
	}
	return false
}

func spellOwn(o kit.APIObject) string {
	if o == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s@%s (write %s, %s)", keyOfAny(o), o.GetResourceVersion(), serialOf(o), o.GetLabels()["zone"])
}

func spellEvent(e ownEvent) string {
	var words []string
	for word, is := range map[string]bool{"initial": e.Initial, "lost": e.Lost} {
		if is {
			words = append(words, word)
		}
	}
	words = append(words, e.Kind)
	for _, o := range []kit.APIObject{e.Old, e.New} {
		if o != nil {
			words = append(words, spellOwn(o))
		}
	}
	return strings.Join(words, " ")
}
