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

// checker checks what a handler of pods is told.
type checker = kit.Checker[podType]

// newChecker returns one that takes copies for the same object: some rigs decode an object for each reader.
func newChecker() *checker { return &checker{Copies: true} }

// B1, B78, B81: handlers come and go while events flow. Nobody sees a jump,
// and whoever stays ends with what is stored (client-go's hammer and its
// handler abuse).
func TestContract_B1_B78_B81_HandlersComeAndGoUnderLoad(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("p0", "1"), kit.Pod("p1", "2"))).start()
		first := newChecker()
		w.handles(first.Handler())
		all, stay := &checkers{}, []*checker{first}
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
				w.handles(late.Handler())
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

// checkers are those of the handlers that have left.
type checkers struct {
	mu   sync.Mutex
	left []*checker
}

// comeAndGo registers a handler and takes it out again, many times.
func (all *checkers) comeAndGo(t T, w *world, random *rand.Rand) {
	for range 40 {
		c := newChecker()
		registration := w.handles(c.Handler())
		for range random.IntN(30) {
			runtime.Gosched()
		}
		assert.NoError(t, registration.remove())
		all.mu.Lock()
		all.left = append(all.left, c)
		all.mu.Unlock()
	}
}
