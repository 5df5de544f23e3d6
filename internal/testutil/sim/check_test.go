package sim_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// eventCheckers check each event of a handler before the handler records it. They return the problem, or
// "".
var eventCheckers = []struct {
	name string
	find func(a *handler, c event) string
}{
	{"true", func(a *handler, c event) string {
		for _, p := range []*pod{c.Old, c.New} {
			if p != nil && !a.w.model.everHad(p) {
				return "a state that never existed"
			}
		}
		return ""
	}},
	{"content", func(a *handler, c event) string {
		for _, p := range []*pod{c.Old, c.New} {
			if p != nil && a.w.otherwise(p) {
				return "an object that differs from the server's"
			}
		}
		return ""
	}},
	{"never back", func(a *handler, c event) string {
		p := subject(c)
		if m := markOf(p); m.before(a.newest[keyOf(p)]) && m.epoch != handEpoch {
			return fmt.Sprintf("a version older than %v", a.newest[keyOf(p)])
		}
		return ""
	}},
	{"known", func(a *handler, c event) string {
		known := a.known[keyOf(subject(c))]
		switch {
		case a.unknowable(keyOf(subject(c))):
		case known == nil && a.mayNotKnow(c):
		case a.delivery == informer.Latest && a.touched[keyOf(subject(c))]: // a user may have written the old object, without an event
		default:
			return call(c).WrongKind(known)
		}
		return ""
	}},
	{"old", func(a *handler, c event) string {
		known := a.known[keyOf(subject(c))]
		switch {
		case a.unknowable(keyOf(subject(c))):
		case known == nil && a.mayNotKnow(c):
		case a.delivery == informer.Latest && a.touched[keyOf(subject(c))]: // a user may have written the old object, without an event
		default:
			return call(c).WrongObjects(known, a.delivery == informer.Latest)
		}
		return ""
	}},
	{"initial", func(a *handler, c event) string {
		if wrong := call(c).WrongFlags(); wrong != "" {
			return wrong
		}
		k := keyOf(subject(c))
		switch {
		case c.Initial && a.isSynced:
			return "an initial add after the handler was synced"
		case c.Initial && a.initial[k] != nil && a.w.zones == 0 && !a.touched[k]: // the object may have moved to a source without a list so far
			return "a second initial add"
		case c.Initial && a.expected != nil && a.delivery == informer.Every && a.expected[k] != c.New:
			return "an initial add of an object that was not stored when the handler joined"
		}
		return ""
	}},
	{"as seen", func(a *handler, c event) string {
		k := keyOf(subject(c))
		if a.delivery != informer.Latest || !c.Lost || a.touched[k] || a.known[k] == nil {
			return ""
		}
		if every := a.first.lastBefore(k); every.sawDelete(a.known[k]) {
			return "a lost delete of an object whose delete was seen"
		}
		return ""
	}},
	{"needless", func(a *handler, c event) string {
		if c.Lost && a.delivery == informer.Every && a.w.justListed(c.Old) {
			return "a lost delete of an object in the list"
		}
		return ""
	}},
}

// call converts an event for the rules of package kit.
func call(c event) kit.Change[*pod] {
	return kit.Change[*pod]{Kind: c.Kind.String(), Old: c.Old, New: c.New, Initial: c.Initial, Lost: c.Lost}
}

type worldChecker struct {
	name string
	find func(w *world) []string
}

// stepCheckers check the world after each step.
var stepCheckers = []worldChecker{
	{"cached", cachedWrong},
	{"found", foundWrong},
	{"synced early", syncedEarly},
	{"latest", latestBound},
	{"asleep", calledAfterStop},
	{"unproved", unproved},
	{"storage", storage},
}

// restCheckers check a world that is idle and without faults.
var restCheckers = []worldChecker{
	{"converges", cacheDiffers},
	{"delivered", backlogs},
	{"index", indexes},
	{"selectors", selectors},
	{"fold", handlersDiffer},
	{"synced late", syncedLate},
	{"status", statusWrong},
	{"awaited", awaited},
	{"presence", presence},
	{"frozen", func(w *world) []string { return w.frozen.check() }},
}

// endCheckers check a world after its end.
var endCheckers = []worldChecker{
	{"budget", budget},
	{"pace", pace},
	{"frozen", func(w *world) []string { return w.frozen.check() }},
	{"asleep", calledAfterStop},
}

// stopCheckers check a world whose informer was just stopped.
var stopCheckers = []worldChecker{
	{"goroutines", goroutines},
	{"stopped", stoppedStatusWrong},
	{"awaited", awaited},
}

// syncedEarly checks that a synced handler has received the whole initial state.
func syncedEarly(w *world) (problems []string) {
	for _, a := range w.presentHandlers() {
		a.mu.Lock()
		if !a.isSynced && (kit.Closed(a.reg.Synced()) || w.mutant.syncedAtOnce) {
			a.isSynced = true
			want := len(a.expected)
			if a.expected == nil && poisons[w.transform] == nil && a.id == 0 && !w.lease && w.initialFailures == 0 && w.zones == 0 {
				want = w.firstListed()
			}
			if !kit.Closed(w.informer.Synced()) {
				problems = append(problems, fmt.Sprintf("%v is synced before the informer", a))
			}
			if a.delivery == informer.Every && len(a.initial) < want {
				problems = append(problems, fmt.Sprintf("%v is synced with %d of %d initial objects", a, len(a.initial), want))
			}
		}
		a.mu.Unlock()
	}
	return problems
}

// syncedLate checks that the informer and all handlers are synced in an idle world.
func syncedLate(w *world) (problems []string) {
	if !kit.Closed(w.informer.Synced()) || w.mutant.neverSynced {
		problems = append(problems, "the informer is not synced")
	}
	for _, a := range w.presentHandlers() {
		if !kit.Closed(a.reg.Synced()) {
			problems = append(problems, fmt.Sprintf("%v is not synced", a))
		}
	}
	return problems
}

// unmerged is the number of log entries that may wait to be merged for a handler with Latest delivery.
const unmerged = 5 * 256

// latestBound checks the limit of the backlog of a handler with Latest delivery: the number of objects,
// the same number again for the initial state, and the entries that are not merged yet.
func latestBound(w *world) (problems []string) {
	for _, a := range w.presentHandlers() {
		objects := w.objectsAtMost()
		most := objects
		if !kit.Closed(a.reg.Synced()) {
			most *= 2
		}
		if a.delivery == informer.Latest && a.reg.Backlog()+w.mutant.extraBacklog > most+unmerged {
			problems = append(problems, fmt.Sprintf("%v has a backlog of %d with %d objects", a, a.reg.Backlog(), objects))
		}
	}
	return problems
}

// calledAfterStop checks that no handler call begins after the informer was stopped.
func calledAfterStop(w *world) (problems []string) {
	for a, calls := range w.callsAtStop {
		if n := a.calls.Load(); n != calls && !w.running {
			problems = append(problems, fmt.Sprintf("%v gets %d changes after the informer was stopped", a, n-calls))
		}
	}
	return problems
}

func backlogs(w *world) (problems []string) {
	for _, a := range w.presentHandlers() {
		if n := a.reg.Backlog(); n != 0 || a.inCall() {
			problems = append(problems, fmt.Sprintf("%v has %d undelivered changes", a, n))
		}
	}
	return problems
}

// handlersDiffer checks that the objects that each handler knows from its events are the objects in the
// cache.
func handlersDiffer(w *world) (problems []string) {
	x := w.informer.Indexer()
	for _, a := range w.presentHandlers() {
		a.mu.Lock()
		a.applyPendingWrites(func(k key) *pod {
			stored, _ := w.get(k)
			return stored
		})
		if len(a.known) != x.Len() {
			problems = append(problems, fmt.Sprintf("%v knows %d objects, but the cache has %d", a, len(a.known), x.Len()))
		}
		for k, p := range a.known {
			if stored, _ := w.get(k); stored != p {
				problems = append(problems, fmt.Sprintf("%v knows %s, but the cache does not have it", a, spell(p)))
			}
		}
		a.mu.Unlock()
	}
	slices.Sort(problems)
	return problems
}

// statusWrong checks that the status counts the quarantined objects, the objects that are missing from
// an index, and all errors.
func statusWrong(w *world) (problems []string) {
	st, failed := w.statusOf(w.informer), w.failures()
	unindexed := 0
	for _, p := range w.all(w.informer) {
		if w.frail && p.Labels["unindexed"] != "" {
			unindexed++
		}
	}
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	say(!w.lacksResource() && st.Quarantined != w.wantQuarantined(), "%d objects are quarantined, but %d should be", st.Quarantined, w.wantQuarantined())
	say(st.Unindexed != unindexed, "%d objects are not indexed, want %d", st.Unindexed, unindexed)
	say(st.Errors < failed, "%d errors are counted, want at least %d", st.Errors, failed)
	if !w.lease { // the informer of a factory has no observer here
		refused, broken := w.streams()
		say(st.Errors+refused < failed+broken, "%d errors are counted, and %d refused streams, want at least %d and %d in total", st.Errors, refused, failed, broken)
	}
	say(failed > 0 && st.LastError == nil, "there is no last error after %d failures", failed)
	say(!st.Running || st.Stopped || !st.Synced, "the status says running %v, stopped %v, synced %v", st.Running, st.Stopped, st.Synced)
	say(st.Objects != w.informer.Indexer().Len(), "%d objects are counted", st.Objects)
	return problems
}

// failures returns the number of lists and watches that were answered with an error.
func (w *world) failures() (failed int) {
	for _, s := range w.sources {
		s.mu.Lock()
		failed += s.failed
		s.mu.Unlock()
	}
	return failed
}

// streams returns the number of refused streams that were reported, and the number of streams that
// failed.
func (w *world) streams() (refused, broken int) {
	w.mu.Lock()
	refused = w.refused
	w.mu.Unlock()
	for _, s := range w.sources {
		s.mu.Lock()
		broken += s.broken
		s.mu.Unlock()
	}
	return refused, broken
}

// A source may send basicBudget requests per minute for back-offs and refused streams, which limits the
// load on a failing server. For each reason that the driver has given, it may send causeBudget more.
const (
	basicBudget = 30
	causeBudget = 4
)

// budget checks that no source sends more requests per minute than allowed.
func budget(w *world) (problems []string) {
	for _, s := range w.sources {
		s.mu.Lock()
		from := 0
		for to, at := range s.requests {
			for at.Sub(s.requests[from]) > time.Minute {
				from++
			}
			causes := 0
			for _, c := range s.causes {
				if d := at.Sub(c); d >= 0 && d < 2*time.Minute {
					causes++
				}
			}
			if n := to - from + 1; n > basicBudget+causeBudget*causes {
				problems = append(problems, fmt.Sprintf("source %d has sent %d requests within a minute", s.number, n))
				break
			}
		}
		s.mu.Unlock()
	}
	return problems
}

// goroutines checks that no goroutine of the informer is left after Run has returned.
func goroutines(*world) (problems []string) {
	buffer := make([]byte, 1<<20)
	for _, stack := range strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		for _, of := range []string{"tidemark/reflector.", "tidemark/informer.(*core", "tidemark/informer.(*registration"} {
			if strings.Contains(stack, of) {
				return []string{"a goroutine is left over: " + stack}
			}
		}
	}
	return nil
}
