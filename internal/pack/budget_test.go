package pack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/internal/heapsize"
	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

// arrive packs a text of n bytes, and keeps it decoded if it fits.
func arrive(t testing.TB, k *Kind, name string, n int) (*Object, *decoded) {
	t.Helper()
	d := &decoded{text: string(text(rand.New(rand.NewPCG(3, uint64(n))), n))}
	o := pack(t, k, "n", name, []byte(d.text))
	o.Keep(d, n, Main)
	return o, d
}

func value(t testing.TB, o *Object, in Ring) *decoded {
	t.Helper()
	v, err := o.Value(in)
	require.NoError(t, err)
	return v.(*decoded)
}

// isHot reports whether an object is hot, without reading it.
func isHot(o *Object) bool { return atomic.LoadPointer(&o.hot) != nil }

func TestArrivingObjectsAreHot(t *testing.T) {
	k := newKind(NewBudget(1 << 20))
	o, d := arrive(t, k, "a", 100)
	require.Same(t, d, value(t, o, Nowhere))
	require.EqualValues(t, 300, k.options.Budget.Used())
	require.Same(t, d, o.Keep(&decoded{text: d.text}, 100, Main), "all readers get the first one")
	require.EqualValues(t, 300, k.options.Budget.Used())
	require.EqualValues(t, 1<<20, k.options.Budget.Limit())
}

func TestLimits(t *testing.T) {
	for limit, hot := range map[int64]bool{0: false, 341: false, 343: true, math.MaxInt64: true} {
		k := newKind(NewBudget(limit)) // seven eighths are for the main ring
		o, d := arrive(t, k, "a", 100)
		require.Equal(t, hot, isHot(o), limit)
		again := value(t, o, Main)
		require.Equal(t, d.text, again.text)
		require.Equal(t, hot, again == d, limit)
		require.Equal(t, hot, value(t, o, Main) == again, limit)
		require.LessOrEqual(t, k.options.Budget.Used(), limit)
	}
}

// A budget has room as long as another object fits without evicting one.
func TestRoom(t *testing.T) {
	k := newKind(NewBudget(8 * 1000)) // seven eighths are for the main ring
	var all [23]*Object
	for i := range all {
		require.True(t, k.HasRoom(100), i)
		all[i], _ = arrive(t, k, fmt.Sprint(i), 100) // 300 bytes
	}
	require.False(t, k.HasRoom(100))
	require.True(t, k.HasRoom(30))
	require.False(t, newKind(NewBudget(0)).HasRoom(1))
	runtime.KeepAlive(all)
}

func TestObjectsThatAreReadStayHot(t *testing.T) {
	k := newKind(NewBudget(8 * 1000))
	read, d := arrive(t, k, "read", 100)
	once, _ := arrive(t, k, "once", 100)
	for i := range 100 {
		require.Same(t, d, value(t, read, Main))
		arrive(t, k, fmt.Sprint(i), 100)
	}
	require.False(t, isHot(once))
}

func TestTransientObjectsDoNotUseTheMainRing(t *testing.T) {
	k := newKind(NewBudget(8 * 1000))
	o, d := arrive(t, k, "a", 100)
	old := pack(t, k, "n", "b", []byte("an object that an update has replaced"))
	require.Same(t, value(t, old, Transient), value(t, old, Transient), "all handlers get the same pointer")
	for i := range 1000 {
		value(t, pack(t, k, "n", fmt.Sprint(i), []byte("another one")), Transient)
		value(t, old, Nowhere) // in this ring, a read gives no second chance
	}
	require.False(t, isHot(old))
	require.Same(t, d, value(t, o, Main))
	require.LessOrEqual(t, k.options.Budget.rings[Transient].used, int64(1000))
}

func TestTheBudgetKeepsNoColdObjectAlive(t *testing.T) {
	k := newKind(NewBudget(8 * 500))
	o, _ := arrive(t, k, "a", 100)
	cold := weak.Make(o)
	next, _ := arrive(t, k, "b", 101) // kept alive, because a dead object makes room too
	hot, _ := arrive(t, k, "c", 102)
	arrive(t, k, "d", 900) // in the same backing array
	require.False(t, isHot(o))
	require.True(t, isHot(hot))
	runtime.GC()
	require.Nil(t, cold.Value())
	runtime.KeepAlive(next)
	runtime.KeepAlive(k)
}

// A replaced version leaves the budget even if the budget never has to make room.
func TestTheBudgetKeepsNoDeadObjectAlive(t *testing.T) {
	for name, limit := range map[string]int64{"unlimited": math.MaxInt64, "with room": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			k := newKind(NewBudget(limit))
			alive, d := arrive(t, k, "alive", 100)
			var one weak.Pointer[Object]
			for round := range 8 {
				for i := range 100 {
					o, _ := arrive(t, k, fmt.Sprint(i), 100)
					if round == 0 && i == 0 {
						one = weak.Make(o)
					}
				}
				runtime.GC()
			}
			require.Nil(t, one.Value())
			require.Less(t, k.options.Budget.Used(), int64(300*300), "800 objects have arrived")
			require.Equal(t, k.options.Budget.Used(), k.Hot())
			require.Same(t, d, value(t, alive, Main))
		})
	}
}

func TestALongListIsNotKept(t *testing.T) {
	k := newKind(NewBudget(8 * 1000))
	require.Equal(t, Main, k.RingFor(0))
	arrive(t, k, "a", 100)
	require.Equal(t, Main, k.RingFor(6), "a quarter is 2,000 bytes")
	require.Equal(t, Nowhere, k.RingFor(7))
	require.Equal(t, Main, newKind(NewBudget(math.MaxInt64)).RingFor(math.MaxInt))
	empty := newKind(NewBudget(0))
	arrive(t, empty, "a", 100)
	require.Equal(t, Nowhere, empty.RingFor(1))
}

func TestOneInSixtyFourIsWeighed(t *testing.T) {
	weighed := 0
	o := newTexts().options
	o.Budget = NewBudget(math.MaxInt64)
	o.Weigh = func(v any) int64 { weighed++; return int64(5 * weighed * len(v.(*decoded).text)) }
	k := NewKind(o)
	var all [65]*Object
	for i := range all {
		all[i], _ = arrive(t, k, fmt.Sprint(i), 100)
	}
	require.Equal(t, 2, weighed)
	require.EqualValues(t, 64*500+750, k.options.Budget.Used(), "the second weighs twice as much: the average is 7.5 times the bytes")
	runtime.KeepAlive(all)
}

// TestTheEstimateIsCloseToTheMemory compares the budget's estimate with the memory of all pods.
func TestTheEstimateIsCloseToTheMemory(t *testing.T) {
	o := newTexts().options
	o.Type, o.Budget = reflect.TypeFor[*corev1.Pod](), NewBudget(math.MaxInt64)
	o.Decode = func(data []byte, _ Form) (any, error) {
		p := new(corev1.Pod)
		err := p.Unmarshal(data)
		return p, err
	}
	weigh := func(v any) int64 {
		var w heapsize.Weigher
		w.Add(v)
		return w.Bytes()
	}
	o.Weigh = weigh
	k, pods, memory := NewKind(o), cluster.New(1, 100), int64(0)
	var all []*Object
	for i := range pods.Pods() {
		e := encode(t, pods.Pod(i))
		v, err := o.Decode(e.data, Event)
		require.NoError(t, err)
		memory += weigh(v)
		p := pack(t, k, e.namespace, e.name, e.data)
		p.Keep(v, len(e.data), Main)
		all = append(all, p)
	}
	require.InEpsilon(t, memory, o.Budget.Used(), 0.15)
	runtime.KeepAlive(all)
}

func TestVerifyModeChecksHotObjects(t *testing.T) {
	on := verify.On
	verify.On = true
	t.Cleanup(func() { verify.On = on })
	k := newKind(NewBudget(1 << 20))
	o := pack(t, k, "n", "a", []byte("a text"))
	require.Panics(t, func() { o.Keep(&decoded{text: "another"}, 6, Main) })
	require.NotPanics(t, func() { o.Keep(&decoded{text: "a text"}, 6, Main) })
}

func TestOnlyObjectsOfTheKindsTypeBecomeHot(t *testing.T) {
	for name, arrived := range map[string]any{"another type": new(int), "not a pointer": 7, "nil": nil, "a nil pointer": (*decoded)(nil)} {
		o := newTexts().options
		o.Budget, o.Weigh = NewBudget(1<<20), func(any) int64 { return 100 }
		k := NewKind(o)
		p := pack(t, k, "n", "a", []byte("a text"))
		p.Keep(arrived, 6, Main)
		require.False(t, isHot(p), name)
		require.Zero(t, o.Budget.Used(), name)
		require.Equal(t, "a text", value(t, p, Main).text, name)
	}
	k := newKind(NewBudget(1 << 20))
	v, err := k.Pin(7).Value(Main)
	require.NoError(t, err)
	require.Equal(t, 7, v)
	require.Zero(t, k.options.Budget.Used())
	_, err = pack(t, k, "n", "a", []byte("garbage")).Value(Main)
	require.ErrorIs(t, err, errGarbage)
}

// twin is a simple model of a budget: a list of hot objects for each ring.
type twin struct {
	limits [2]int64
	hot    [2][]hotTwin
}

type hotTwin struct {
	object *Object
	value  *decoded
	size   int64
	read   bool
}

func (w *twin) find(o *Object) *hotTwin {
	for ring := range w.hot {
		for i := range w.hot[ring] {
			if h := &w.hot[ring][i]; h.object == o {
				return h
			}
		}
	}
	return nil
}

func (w *twin) used(ring Ring) (sum int64) {
	for _, h := range w.hot[ring] {
		sum += h.size
	}
	return sum
}

func (w *twin) add(ring Ring, h hotTwin) {
	if ring == Nowhere || h.size > w.limits[ring] {
		return
	}
	for w.used(ring)+h.size > w.limits[ring] {
		for range 64 {
			oldest := w.hot[ring][0]
			if ring == Transient || !oldest.read {
				break
			}
			oldest.read = false
			w.hot[ring] = append(w.hot[ring][1:], oldest)
		}
		w.hot[ring] = w.hot[ring][1:]
	}
	w.hot[ring] = append(w.hot[ring], h)
}

// FuzzBudget adds and reads objects of two kinds, and compares their budget with its twin.
func FuzzBudget(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		limit := int64(r.IntN(20_000))
		b := NewBudget(limit)
		w := twin{limits: [2]int64{limit - limit/8, limit / 8}}
		kinds := []*Kind{newKind(b), newKind(b)}
		var objects []*Object
		texts := map[*Object]string{}
		for step := 0; more(); step++ {
			if k := kinds[r.IntN(2)]; len(objects) == 0 || r.IntN(4) == 0 {
				o, d := arrive(t, k, fmt.Sprint(step), 1+r.IntN(200))
				w.add(Main, hotTwin{o, d, 3 * int64(len(d.text)), false})
				objects, texts[o] = append(objects, o), d.text
			} else {
				o, in := objects[r.IntN(len(objects))], Ring(r.IntN(3))
				v := value(t, o, in)
				require.Equal(t, texts[o], v.text)
				if h := w.find(o); h != nil {
					require.Same(t, h.value, v)
					h.read = true
				} else {
					// An evicted object may have been read after its last chance.
					w.add(in, hotTwin{o, v, 3 * int64(len(v.text)), o.header()&readBit != 0})
				}
			}
			b.check(t)
			require.Equal(t, w.used(Main)+w.used(Transient), b.Used())
			require.LessOrEqual(t, b.Used(), limit)
			for _, o := range objects {
				require.Equal(t, w.find(o) != nil, isHot(o))
			}
		}
	})
}

// check fails if an invariant of the rings is broken.
func (b *Budget) check(t *testing.T) {
	t.Helper()
	seen := map[*Object]bool{}
	for _, r := range b.rings {
		var sum int64
		for _, e := range r.entries {
			if o := e.object.Value(); o != nil {
				require.True(t, isHot(o))
				require.False(t, seen[o])
				seen[o] = true
			}
			sum += e.size
		}
		require.Equal(t, sum, r.used)
		require.LessOrEqual(t, r.used, r.limit)
	}
}

// TestConcurrentReadersGetTheSamePointer reads objects from several goroutines, with a budget for all objects and
// with one for a few.
func TestConcurrentReadersGetTheSamePointer(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int64
	}{{"all", math.MaxInt64}, {"few", 5000}} {
		t.Run(c.name, func(t *testing.T) {
			k := newKind(NewBudget(c.limit))
			arrive(t, k, "weighed", 10)
			objects, texts := make([]*Object, 200), make([]string, 200)
			for i := range objects {
				texts[i] = fmt.Sprintf("a text, the text of %d", i)
				objects[i] = pack(t, k, "n", "a", []byte(texts[i]))
			}
			var got [4][200]any
			var wg sync.WaitGroup
			for g := range got {
				wg.Go(func() {
					for round := range 20 {
						for i, o := range objects {
							v, err := o.Value(Ring(round % 2))
							if !assert.NoError(t, err) || !assert.Equal(t, texts[i], v.(*decoded).text) {
								return
							}
							if before := got[g][i]; before != nil && before != v && c.limit == math.MaxInt64 {
								assert.Fail(t, "another pointer, although all objects fit")
								return
							}
							got[g][i] = v
							if used := k.options.Budget.Used(); used > c.limit {
								assert.Fail(t, "more than the limit", used)
								return
							}
						}
					}
				})
			}
			wg.Wait()
			k.options.Budget.check(t)
			for i := range objects {
				if c.limit == math.MaxInt64 {
					for g := range got {
						require.Same(t, got[0][i], got[g][i])
					}
				}
			}
		})
	}
}

func TestHotReadsAllocateNothing(t *testing.T) {
	k := newKind(NewBudget(math.MaxInt64))
	o, d := arrive(t, k, "a", 100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if v, _ := o.Value(Main); v != any(d) {
			t.Fatal(v)
		}
	}))
	require.EqualValues(t, 24, unsafe.Sizeof(entry{}))
	runtime.KeepAlive(o)
}
