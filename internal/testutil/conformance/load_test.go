package conformance_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// folder is a handler that knows what it was told, and notes what does not
// follow from that: a jump in the history of an object.
type folder struct {
	mu    sync.Mutex
	known map[string]string // versions by name
	jumps []string
}

func newFolder() *folder { return &folder{known: map[string]string{}} }

// step notes that an object went from one version to another, "" for none.
func (f *folder) step(name, from, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.known[name] != from {
		f.jumps = append(f.jumps, fmt.Sprintf("%s: told %q to %q, knows %q", name, from, to, f.known[name]))
	}
	if f.known[name] = to; to == "" {
		delete(f.known, name)
	}
}

// gone notes that an object was deleted, whatever its last version.
func (f *folder) gone(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.known[name] == "" {
		f.jumps = append(f.jumps, name+": told that it is gone, and never heard of it")
	}
	delete(f.known, name)
}

func (f *folder) handler() funcs {
	return funcs{
		AddFunc: func(obj any, _ bool) { p := obj.(podType); f.step(p.Name, "", p.ResourceVersion) },
		UpdateFunc: func(old, obj any) {
			p := obj.(podType)
			f.step(p.Name, old.(podType).ResourceVersion, p.ResourceVersion)
		},
		DeleteFunc: func(obj any) {
			if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = lost.Obj
			}
			f.gone(obj.(podType).Name)
		},
	}
}

// B1, B78, B81: handlers come and go while events flow. Nobody sees a jump,
// and whoever stays ends with what is stored (client-go's hammer and its
// handler abuse).
func TestContract_B1_B78_B81_HandlersComeAndGoUnderLoad(t *testing.T) {
	each(t, func(t T, r rig) {
		w := r.world(t, kit.NewScript("10", kit.Pod("p0", "1"), kit.Pod("p1", "2"))).start()
		first := newFolder()
		w.handles(first.handler())
		all, stay := &folders{}, []*folder{first}
		var members sync.WaitGroup
		for member := range uint64(4) {
			members.Go(func() { all.comeAndGo(t, w, rand.New(rand.NewPCG(member, 7))) }) //nolint:gosec // a test
		}
		stored := map[string]string{"p0": "1", "p1": "2"}
		random := rand.New(rand.NewPCG(1, 8)) //nolint:gosec // a test
		for n := range 600 {
			w.change(random, stored, fmt.Sprint(n+11))
			if n%200 == 100 {
				late := newFolder()
				w.handles(late.handler())
				stay = append(stay, late)
			}
		}
		members.Wait()
		synctest.Wait()
		for _, f := range append(all.list, stay...) {
			require.Empty(t, f.jumps)
		}
		for _, f := range stay {
			require.Equal(t, stored, f.known)
		}
	})
}

// change makes one random event.
func (w *world) change(random *rand.Rand, stored map[string]string, version string) {
	p := kit.Pod(fmt.Sprint("p", random.IntN(8)), version)
	switch {
	case stored[p.Name] == "":
		w.Send(watch.Added, p)
	case random.IntN(4) == 0:
		w.Send(watch.Deleted, p)
		delete(stored, p.Name)
		return
	default:
		w.Send(watch.Modified, p)
	}
	stored[p.Name] = version
}

// folders are those that have left.
type folders struct {
	mu   sync.Mutex
	list []*folder
}

// comeAndGo registers a handler and takes it out again, many times.
func (all *folders) comeAndGo(t T, w *world, random *rand.Rand) {
	for range 40 {
		f := newFolder()
		registration := w.handles(f.handler())
		for range random.IntN(30) {
			runtime.Gosched()
		}
		assert.NoError(t, registration.remove())
		all.mu.Lock()
		all.list = append(all.list, f)
		all.mu.Unlock()
	}
}
