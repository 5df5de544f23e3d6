package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/process"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// An aging world is a cluster over months, and an informer that packs its objects. Rollouts change what
// the objects have in common, new owners appear, and some objects have nothing in common with any other.

// agingWorld is an aging world.
type agingWorld struct {
	t      *testing.T
	r      *rand.Rand
	server *informertest.Server
	each   int        // objects per owner
	owners [][]string // the names of their objects
}

const (
	agingObjects = 1500
	openBases    = 512 << 10 // an old store may keep this many more bytes of outdated bases
)

// TestPackedStoresDoNotAge compares the heap of an informer after a long life with that of a new one.
func TestPackedStoresDoNotAge(t *testing.T) {
	tier.SkipRaced(t)
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playAging(t, seed) })
		})
	}
}

func playAging(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 9)) //nolint:gosec // a test
	w := &agingWorld{t: t, r: r, server: informertest.New(informertest.Options{Scheme: podScheme}), each: 1 + 4*int(seed%2)}
	defer w.server.Close()
	w.owners = make([][]string, agingObjects/w.each)
	for i := range 5 * (1 - seed%2) {
		w.write(fmt.Sprintf("foreign%d", i), w.text(13_000))
	}
	w.rollOut(1)
	old := w.start()
	for range 20 + r.IntN(5) {
		w.rollOut(r.Float64())
		w.changeSome()
		time.Sleep(time.Minute)
	}
	aged := w.heapOf(&old)
	next := w.start()
	time.Sleep(time.Minute)
	fresh := w.heapOf(&next)
	t.Logf("%d objects per owner: %.0f bytes per object, with a new informer %.0f", w.each, aged/agingObjects, fresh/agingObjects)
	require.Less(t, aged, 1.3*fresh+openBases)
}

// text returns a random text.
func (w *agingWorld) text(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('g' + w.r.IntN(20)) //nolint:gosec // small
	}
	return string(b)
}

// write creates or replaces an object.
func (w *agingWorld) write(name string, texts ...string) {
	p := &pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, Annotations: map[string]string{"text": strings.Join(texts, " ")}}}
	if w.server.Update(w.t.Context(), p) != nil {
		require.NoError(w.t, w.server.Create(w.t.Context(), p))
	}
}

// rollOut changes what the objects of some owners have in common.
func (w *agingWorld) rollOut(part float64) {
	common, rollout := w.text(3500), w.r.Uint32()
	for o, before := range w.owners {
		if w.r.Float64() > part {
			continue
		}
		own := w.text(60)
		w.owners[o] = nil
		for i := range w.each {
			name := fmt.Sprintf("w%d", o)
			if w.each > 1 {
				name = fmt.Sprintf("w%d-%08x-%d", o, rollout, i)
			}
			w.write(name, common, own)
			w.owners[o] = append(w.owners[o], name)
		}
		for _, name := range before {
			if !slices.Contains(w.owners[o], name) {
				require.NoError(w.t, w.server.Delete(w.t.Context(), &pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}}))
			}
		}
	}
}

// changeSome makes small changes to some objects.
func (w *agingWorld) changeSome() {
	for range agingObjects / 10 {
		names := w.owners[w.r.IntN(len(w.owners))]
		p := &pod{}
		require.NoError(w.t, w.server.Get(w.t.Context(), "a", names[w.r.IntN(len(names))], p))
		p.Spec.NodeName = fmt.Sprintf("node-%d", w.r.IntN(1000))
		require.NoError(w.t, w.server.Update(w.t.Context(), p))
	}
}

// aging is an informer, and the functions that end it.
type aging struct {
	informer *informer.Informer[*pod]
	stop     func()
}

// start starts an informer that packs its objects.
func (w *agingWorld) start() *aging {
	i := informer.New(w.server.Source(pods, ""), informer.Options[*pod]{
		Storage: informer.Storage{Decoded: informer.NewBudget(0)}, Observe: func(informer.Event) {},
	})
	ctx, cancel := context.WithCancel(w.t.Context())
	wait, err := i.Start(ctx)
	require.NoError(w.t, err)
	require.NoError(w.t, i.WaitSynced(ctx))
	return &aging{i, func() { cancel(); require.NoError(w.t, wait()) }}
}

// heapOf stops an informer, and returns the size of its heap.
func (w *agingWorld) heapOf(of **aging) float64 {
	synctest.Wait()
	with := process.Heap()
	require.Positive(w.t, (*of).informer.Indexer().Len())
	(*of).stop()
	*of = nil
	synctest.Wait()
	runtime.GC()
	return float64(with - process.Heap())
}
