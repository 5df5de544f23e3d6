package sim_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/heapsize"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// In two of three worlds the informer packs its objects. Each read may then return a different copy, so
// the checkers compare objects by value: one object stands for all equal ones. In some of these worlds
// the program writes into the objects that it gets. Later readers must not see these writes.

// packed says how the informer of a world stores its objects.
type packed uint8

const (
	decoded    packed = iota // not packed
	cold                     // packed, and no decoded object is kept
	partlyHot                // packed, and some decoded objects are kept
	packedWays = iota
)

func (p packed) String() string {
	return [packedWays]string{"decoded objects", "packed objects", "packed objects and a budget"}[p]
}

// hotBytes is the budget in worlds with partlyHot.
const hotBytes = 64 << 10

// In worlds with partlyHot, an annotation makes the objects so large that not all of them fit into the
// budget.
const (
	paddingName  = "padding"
	paddingTimes = 1000
)

// storage returns the options of an informer. If evictsNothing is set, the budget is too large.
func (p packed) storage(evictsNothing bool) (s informer.Storage) {
	switch p {
	case cold:
		s.Decoded = informer.NewBudget(0)
	case partlyHot:
		s.Decoded = informer.NewBudget(hotBytes)
	}
	if p != decoded && evictsNothing {
		s.Decoded = informer.NewBudget(math.MaxInt64)
	}
	return s
}

// drawPacked draws how a world stores its objects, and whether the program writes into objects that it
// gets. It does not affect the rest of the world.
func drawPacked(seed uint64) (how packed, scribbles bool) {
	r := rand.New(rand.NewPCG(seed, 6)) //nolint:gosec // a test
	how = packed(r.IntN(packedWays))    //nolint:gosec // small
	return how, how != decoded && r.IntN(3) == 0
}

// alike maps each object to one that equals it. It is safe for concurrent use.
type alike[T any] struct {
	copied func(T) T
	mu     sync.Mutex
	known  map[string][]T // by descriptions; guarded by mu
}

// one returns the object that stands for all that equal o.
func (a *alike[T]) one(description string, o T) T {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, known := range a.known[description] {
		if reflect.DeepEqual(known, o) {
			return known
		}
	}
	o = a.copied(o) // the program may write into the original
	if a.known == nil {
		a.known = map[string][]T{}
	}
	a.known[description] = append(a.known[description], o)
	return o
}

// one returns the object that stands for all that equal p. In a world of decoded objects it returns p.
func (w *world) one(p *pod) *pod {
	if p == nil || w.packed == decoded {
		return p
	}
	return w.alike.one(spell(p), p)
}

// all returns the objects of an informer.
func (w *world) all(of *informer.Informer[*pod]) (all []*pod) {
	for p := range of.Indexer().All() {
		all = append(all, w.one(p))
	}
	return all
}

// get returns an object of the world's informer.
func (w *world) get(k key) (*pod, bool) {
	p, ok := w.informer.Indexer().Get(k)
	if w.mutant.keepsHot && ok {
		if w.hot[k] == nil {
			w.hot[k] = p
		}
		p = w.hot[k]
	}
	return w.one(p), ok
}

// oneOf returns the object that stands for all that equal o, like the method of world.
func (w *ownWorld) oneOf(o any) any {
	if o == nil || w.setup.packed == decoded {
		return o
	}
	own := o.(kit.APIObject)
	return w.alike.one(spellOwn(own), own)
}

// one is like oneOf, for objects that may be nil.
func (w *ownWorld) one(o kit.APIObject) kit.APIObject {
	one, _ := w.oneOf(o).(kit.APIObject)
	return one
}

// byHandKeys are the keys of objects that users have put into a store. The store has these very objects.
// byHandKeys is safe for concurrent use.
type byHandKeys struct {
	mu   sync.Mutex
	keys map[key]bool // guarded by mu
}

func (b *byHandKeys) add(k key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keys == nil {
		b.keys = map[key]bool{}
	}
	b.keys[k] = true
}

func (b *byHandKeys) has(k key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keys[k]
}

func (b *byHandKeys) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.keys)
}

// scribble writes into an object.
func scribble(o metav1.Object) {
	for _, m := range []map[string]string{o.GetLabels(), o.GetAnnotations()} {
		for k := range m {
			m[k] = "scribbled"
		}
	}
	o.SetNamespace("scribbled")
	o.SetUID("scribbled")
	o.SetResourceVersion("0")
	o.SetFinalizers([]string{"example.com/scribbled"})
	o.SetOwnerReferences(nil)
	if p, ok := o.(*pod); ok {
		p.Spec.NodeName = "scribbled"
	}
}

// scribble writes into all objects of the store, except those that users have put there.
func (w *world) scribble() {
	if w.scribbles && w.informer != nil {
		w.reach("store", "scribbled")
		keys := slices.Collect(maps.Keys(w.stored()))
		scribbleInto(w.storage, slices.DeleteFunc(keys, w.byHand.has), w.informer.Indexer().Get)
	}
}

// scribble writes into all objects of the store, except those that users have put there.
func (w *ownWorld) scribble() {
	if w.setup.scribbles {
		w.reach("store", "scribbled")
		keys := slices.Collect(maps.Keys(w.stored()))
		scribbleInto(w.storage, slices.DeleteFunc(keys, w.byHand.has), w.get)
	}
}

// get returns the informer's object with a key.
func (w *ownWorld) get(k key) (kit.APIObject, bool) {
	o, ok := w.indexer.Get(k)
	own, _ := o.(kit.APIObject)
	return own, ok
}

// scribbles reports whether the handler writes into objects that it gets. Every other handler does if no
// decoded objects are kept, so that no other reader gets them.
func (a *handler) scribbles(c event) bool {
	return a.w.scribbles && a.w.packed == cold && a.id%2 == 1 && !a.w.byHand.has(keyOf(subject(c)))
}

func scribbleEvent(c event) {
	for _, p := range []*pod{c.Old, c.New} {
		if p != nil {
			scribble(p)
		}
	}
}

// scribbleInto writes into the results of reading some keys. The budget has no room for them before and
// after, so that no other reader gets them.
func scribbleInto[T metav1.Object](storage informer.Storage, keys []key, get func(key) (T, bool)) {
	flood(storage.Decoded)
	for _, k := range keys {
		if o, ok := get(k); ok {
			scribble(o)
		}
	}
	flood(storage.Decoded)
}

// flood fills a budget with other objects, as another informer with the same budget would.
func flood(b *informer.Budget) {
	something := &struct{}{}
	decode := func([]byte, pack.Form) (any, error) { return something, nil }
	kind := pack.NewKind(pack.Options{
		Type: reflect.TypeOf(something), Budget: (*pack.Budget)(b), Decode: decode, Meta: decode, Weigh: func(any) int64 { return 0 },
	})
	for ring, bytes := range map[pack.Ring]int64{pack.Main: b.Limit() - b.Limit()/8, pack.Transient: b.Limit() / 8} {
		o, err := kind.Pack("", "something", []byte("something"), pack.Event)
		must(err)
		o.Keep(something, int(bytes), ring)
	}
}

// storageWrong checks what an informer's status says about its packed objects, and that no more objects
// are hot than the budget allows. An object is hot if two reads return the same object. At most the keys
// that users have written are pinned.
func storageWrong[T metav1.Object](how packed, storage informer.Storage, st informer.Status, keys []key, byHand *byHandKeys, get func(key) (T, bool)) (problems []string) {
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	if how == decoded {
		say(st.Storage != informer.StorageStatus{}, "nothing is packed, but the status says %+v", st.Storage)
		return problems
	}
	limit := map[packed]int64{partlyHot: hotBytes}[how]
	used := storage.Decoded.Used()
	say(used > limit || st.Storage.Decoded > limit, "of a budget of %d bytes, %d are used, and the status says %+v", limit, used, st.Storage)
	say(st.Storage.Pinned > byHand.count(), "%d objects are pinned, but users have written %d", st.Storage.Pinned, byHand.count())
	first := map[key]any{}
	for _, k := range keys {
		first[k], _ = get(k)
	}
	var hot heapsize.Weigher
	objects := 0
	for _, k := range keys {
		if again, ok := get(k); ok && first[k] == any(again) && !byHand.has(k) {
			hot.Add(again)
			objects++
		}
	}
	say(hot.Bytes() > limit+limit/4, "%d objects of %d bytes are decoded in a budget of %d", objects, hot.Bytes(), limit)
	return problems
}
