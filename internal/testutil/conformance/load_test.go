package conformance_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// checker checks the events of a handler of pods.
type checker = kit.Checker[podType]

// newChecker returns a checker that compares objects by content, because each reader of packed objects
// gets its own copy.
func newChecker() *checker { return &checker{Copies: true} }

// B1, B78, B81: handlers come and go during events. No handler misses an event, and each remaining
// handler ends with the content of the store (client-go's hammer and its handler abuse test).
func TestContract_B1_B78_B81_HandlersComeAndGoUnderLoad(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("p0", "1"), kit.Pod("p1", "2"))).start()
		first := newChecker()
		w.addHandler(first.Handler())
		all, stay := &leftCheckers{}, []*checker{first}
		var members sync.WaitGroup
		for member := range uint64(4) {
			members.Go(func() { all.comeAndGo(t, w, rand.New(rand.NewPCG(member, 7))) }) //nolint:gosec // a test
		}
		stored := map[string]podType{"p0": kit.Pod("p0", "1"), "p1": kit.Pod("p1", "2")}
		random := rand.New(rand.NewPCG(1, 8)) //nolint:gosec // a test
		for n := range 600 {
			w.change(random, stored, fmt.Sprint(n+11))
			if n%200 == 100 {
				late := newChecker()
				w.addHandler(late.Handler())
				stay = append(stay, late)
			}
		}
		members.Wait()
		synctest.Wait()
		for _, c := range append(all.left, stay...) {
			require.Empty(t, c.Problems())
		}
		for _, c := range stay {
			require.NoError(t, c.Differs(maps.Values(stored)))
		}
	})
}

// change makes one random event.
func (w *world) change(random *rand.Rand, stored map[string]podType, version string) {
	p := kit.Pod(fmt.Sprint("p", random.IntN(8)), version)
	switch {
	case stored[p.Name] == nil:
		w.Send(watch.Added, p)
	case random.IntN(4) == 0:
		w.Send(watch.Deleted, p)
		delete(stored, p.Name)
		return
	default:
		w.Send(watch.Modified, p)
	}
	stored[p.Name] = p
}

// leftCheckers are the checkers of removed handlers.
type leftCheckers struct {
	mu   sync.Mutex
	left []*checker
}

// comeAndGo repeatedly adds and removes a handler.
func (all *leftCheckers) comeAndGo(t T, w *world, random *rand.Rand) {
	for range 40 {
		c := newChecker()
		registration := w.addHandler(c.Handler())
		for range random.IntN(30) {
			runtime.Gosched()
		}
		assert.NoError(t, registration.remove())
		all.mu.Lock()
		all.left = append(all.left, c)
		all.mu.Unlock()
	}
}
