package sim_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// ownCheckers check a world of own writes after each step, when it is idle.
var ownCheckers = []struct {
	name string
	find func(w *ownWorld) []string
}{
	{"reads", readsWrong},
	{"found", ownFoundWrong},
	{"early", shownEarly},
	{"shown", notShown},
	{"current", storeOld},
	{"events", eventsWrong},
	{"keys", keysWrong},
	{"made", madeWrong},
	{"ghost", ghosts},
	{"storage", ownStorage},
	{"share", foreignStored},
	{"requests", requestsWrong},
	{"version", versionWrong},
	{"canceled", watchesCanceled},
}

// watchesCanceled checks that no watch fails because of its client's timeout.
func watchesCanceled(w *ownWorld) (problems []string) {
	if n := w.canceled.Load(); n > 0 {
		problems = append(problems, fmt.Sprintf("%d watches have failed", n))
	}
	return problems
}

// ownStorage checks the memory of a packed store.
func ownStorage(w *ownWorld) []string {
	return storageWrong(w.setup.packed, w.storage, w.informer.Status(), slices.Collect(maps.Keys(w.stored())), &w.byHand, w.get)
}

// readsWrong checks that Get, lists, indexes and snapshots show the same objects.
func readsWrong(w *ownWorld) (problems []string) {
	all := w.stored()
	zones := map[string]int{}
	for k, o := range all {
		got, ok := w.get(k)
		if w.frozen.note(got); !ok || w.one(got) != o {
			problems = append(problems, fmt.Sprintf("Get does not return %s", spellOwn(o)))
		}
		zones[o.GetLabels()["zone"]]++
		if got, ok, err := w.informer.GetStore().GetByKey(k.String()); err != nil || !ok || w.oneOf(got) != any(o) {
			problems = append(problems, fmt.Sprintf("client-go's GetByKey does not return %s", spellOwn(o)))
		}
	}
	for z := range 3 {
		name := fmt.Sprint("z", z)
		found := slices.Collect(w.indexer.By("zone", name))
		if w.mutant.staleIndex && len(found) > 1 {
			found = found[1:]
		}
		for _, o := range found {
			if all[keyOfAny(o.(kit.APIObject))] != w.oneOf(o) {
				problems = append(problems, fmt.Sprintf("the index has %s", spellOwn(o.(kit.APIObject))))
			}
		}
		if len(found) != zones[name] {
			problems = append(problems, fmt.Sprintf("the index has %d of %d objects in %s", len(found), zones[name], name))
		}
	}
	in := w.indexer.Snapshot()
	if n := len(slices.Collect(in.All())); n != len(all) || len(w.informer.GetStore().List()) != len(all) {
		problems = append(problems, fmt.Sprintf("a snapshot has %d objects, a list %d, All %d", n, len(w.informer.GetStore().List()), len(all)))
	}
	return problems
}

// shownEarly checks that the store has no objects of a source before the source's first full state.
func shownEarly(w *ownWorld) (problems []string) {
	_, listed := w.wire.progress()
	for k, o := range w.stored() {
		read := func(i int) bool {
			s, _, _ := w.server.history.at(k, versionOf(o))
			return listed[i] > 0 && s.object != nil && w.reads(w.places[i], s)
		}
		if !slices.ContainsFunc(indexesOf(w.places), read) && len(w.touched) == 0 && !w.doubtful {
			problems = append(problems, "the store holds "+spellOwn(o))
		}
	}
	return problems
}

// notShown checks the writes that have returned. The store must show them, unless the status says that
// an answer could not be shown or does not say enough. The status must not say so without a reason.
func notShown(w *ownWorld) (problems []string) {
	now := w.informer.Status().OwnWrites
	missed := now.Waiting + now.Doubtful
	if w.mutant.countsWaiting {
		missed += uint64(w.serials) //nolint:gosec // small
	}
	var returned []*ownWrite
	excused := missed == w.missed || w.doubtful
	for _, on := range w.writes {
		if on.judged || !kit.Closed(on.done) {
			continue
		}
		on.judged = true
		shows := on.linked && on.epoch == len(w.server.past)
		if excused = excused || on.err != nil || on.unsure || !shows; on.err == nil && on.at > 0 && shows {
			returned = append(returned, on)
		}
	}
	for _, on := range returned {
		w.reach("shown", missed == w.missed)
		if missed == w.missed {
			w.mustShow(on, true)
		}
		if !excused {
			problems = append(problems, fmt.Sprintf("the store does not show the answer to %s: %+v", on.what, now))
		}
	}
	w.missed = missed
	return problems
}

// mustShow records that the store must show a write. If here is set and the object has moved between
// zones, the store must show the object, not its removal.
func (w *ownWorld) mustShow(on *ownWrite, here bool) {
	k := on.key
	if k.Name == "" {
		k, _ = w.server.history.named(on.serial)
	}
	states := w.server.history.of(k)
	written := slices.IndexFunc(states, func(s ownState) bool { return s.version > on.at }) - 1
	if written == -2 {
		written = len(states) - 1
	}
	if written >= 0 && !w.holds(states[written].object) {
		return // the answer has a foreign object, and says nothing about an earlier object with its name
	}
	for _, s := range states {
		if s.version <= on.at && w.concerns(k, s) {
			w.raise(k, s.version, "the program's own write")
			if here && w.inScope(s) {
				w.here[k] = s.version
			}
		}
	}
}

// floor is the lowest version that the store must show of an object, and the reason.
type floor struct {
	version int
	why     string
}

func (w *ownWorld) raise(k key, version int, why string) {
	if w.floors[k].version < version {
		w.floors[k] = floor{version, why}
	}
}

// storeOld checks that the store shows a state of each object that the server had. It must not be older
// than the watch's progress, a write that has returned, or an earlier read.
func storeOld(w *ownWorld) (problems []string) {
	stored := w.stored()
	for k, o := range stored {
		if what := w.unreal(o); what != "" && !w.touched[k] {
			problems = append(problems, "the store holds "+what+": "+spellOwn(o))
		}
	}
	if w.doubtful {
		return problems
	}
	for k, received := range w.received() {
		w.raise(k, received, "the watch")
	}
	w.raiseToVersion()
	for _, k := range w.server.history.keys() {
		if w.touched[k] {
			continue
		}
		f := w.floors[k]
		switch shown, ok := w.explains(k, stored[k], f.version); {
		case !ok:
			problems = append(problems, fmt.Sprintf("the store shows %s of %s, which is older than version %d of %s", spellOwn(stored[k]), k, f.version, f.why))
		default:
			w.raise(k, shown, "an earlier read")
		}
	}
	slices.Sort(problems)
	return problems
}

// explains returns the lowest version, at least from, at which a correct store shows this object under
// the key, or no object if o is nil. It returns false if there is no such version.
func (w *ownWorld) explains(k key, o kit.APIObject, from int) (version int, ok bool) {
	if o != nil {
		return versionOf(o), versionOf(o) >= from
	}
	if from == 0 {
		return 0, true
	}
	before := ownState{gone: true}
	for _, s := range w.server.history.of(k) {
		moves := w.setup.sources == "zones" && !before.gone && !s.gone && s.object.GetLabels()["zone"] != before.object.GetLabels()["zone"] && w.here[k] != s.version
		if s.version >= from && (s.gone || !w.inScope(s) || moves) {
			return s.version, true
		}
		before = s
	}
	return 0, false
}

// received returns the newest version of each object that the informer has received.
func (w *ownWorld) received() map[key]int {
	received := map[key]int{}
	reached, _ := w.wire.progress()
	for _, k := range w.server.history.keys() {
		before := ownState{gone: true}
		for _, s := range w.server.history.of(k) {
			for i, p := range w.places {
				if s.version <= reached[i] && (w.reads(p, s) || w.reads(p, before)) {
					received[k] = max(received[k], s.version)
				}
			}
			before = s
		}
	}
	return received
}

// reads reports whether a source includes a state of an object.
func (p ownPlace) reads(s ownState) bool {
	return !s.gone && (p.namespace == "" || p.namespace == s.object.GetNamespace()) &&
		(p.selector == "" || p.selector == "zone="+s.object.GetLabels()["zone"])
}

func (w *ownWorld) inScope(s ownState) bool {
	return slices.ContainsFunc(w.places, func(p ownPlace) bool { return w.reads(p, s) })
}

// concerns reports whether a source learns of a state.
func (w *ownWorld) concerns(k key, s ownState) bool {
	_, before, _ := w.server.history.at(k, s.version)
	return w.inScope(s) || w.inScope(before)
}

// unreal returns what is wrong with an object in the store, or "".
func (w *ownWorld) unreal(o kit.APIObject) (what string) {
	what = "a state that the server never had"
	k := keyOfAny(o)
	for _, h := range w.histories() {
		s, _, ok := h.at(k, versionOf(o))
		if !ok || s.gone || s.object.GetUID() != o.GetUID() || serialOf(s.object) != serialOf(o) {
			continue
		}
		want := w.decoded(s.object)
		want.GetObjectKind().SetGroupVersionKind(o.GetObjectKind().GroupVersionKind()) // the items of lists have no kind
		if w.setup.drop {
			want.SetManagedFields(nil)
		}
		if f := ownTransforms[w.transform]; f != nil {
			f(want)
		}
		switch {
		case !equality.Semantic.DeepEqual(want, o): // after the server was set back, it has written its objects at other times
			what = fmt.Sprintf("an object that differs from the server's, %+v and not %+v", want, o)
		case !w.inScope(s):
			return "an object that no source reads"
		default:
			return ""
		}
	}
	return what
}

// decoded returns an object of the server as the world's source decodes it.
func (w *ownWorld) decoded(o *unstructured.Unstructured) kit.APIObject {
	o = o.DeepCopy()
	if w.kind.object == reflect.TypeOf(o) {
		return o
	}
	want := reflect.New(w.kind.object.Elem()).Interface().(kit.APIObject)
	must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, want))
	return want
}

// ghosts checks that everything shown was confirmed, unless the server was set back.
func ghosts(w *ownWorld) (problems []string) {
	if n := w.informer.Status().OwnWrites.Ghosts + w.mutant.ghosts; n > 0 && len(w.server.past) == 0 {
		problems = append(problems, fmt.Sprintf("the store has shown %d objects that the server never had", n))
	}
	return problems
}

// unsettled returns the differences between the store and the server, and pending writes.
func (w *ownWorld) unsettled() (problems []string) {
	stored := w.stored()
	for _, k := range w.server.history.keys() {
		now := w.server.history.newest(k)
		o := stored[k]
		switch {
		case !w.inScope(now) && o != nil:
			problems = append(problems, "the store has, but the server does not have, "+spellOwn(o))
		case w.inScope(now) && o != nil && versionOf(o) == now.version && w.isOfThePast(o): // D35: an object with the same version again cannot be distinguished
		case w.inScope(now) && (o == nil || versionOf(o) != now.version || serialOf(o) != serialOf(now.object)):
			problems = append(problems, fmt.Sprintf("the store has %s, but the server has %s", spellOwn(o), spellOwn(now.object)))
		}
		delete(stored, k)
	}
	for _, o := range stored {
		problems = append(problems, "the store has, but the server never had, "+spellOwn(o))
	}
	if n := w.informer.Status().OwnWrites.Pending; n > 0 {
		problems = append(problems, fmt.Sprintf("%d objects are pending", n))
	}
	return problems
}

// isOfThePast reports whether the server had an object before the server was set back.
func (w *ownWorld) isOfThePast(o kit.APIObject) bool {
	return slices.ContainsFunc(w.server.past, func(h *ownHistory) bool {
		s, _, ok := h.at(keyOfAny(o), versionOf(o))
		return ok && s.object != nil && serialOf(s.object) == serialOf(o)
	})
}

func indexesOf[T any](all []T) (numbers []int) {
	for i := range all {
		numbers = append(numbers, i)
	}
	return numbers
}
