package informer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// troubles are the failures of a cluster, besides changes of what it serves.
type troubles struct {
	down, hidden bool // the server; widgets (404)
}

// D32: whatever happens to a resource, and whichever requests fail, handlers get no delete of an
// existing widget, and in the end the informer has the server's widgets if they are served.
func TestContract_D32_WhateverHappens(t *testing.T) {
	seeds := uint64(60)
	if tier.Raced() && !tier.Long() {
		seeds = 15
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) { newTroubled(t, c, seed).play() })
		})
	}
}

// troubled is a cluster with random changes and failures.
type troubled struct {
	*cluster
	random  *rand.Rand
	wrong   troubles
	objects map[string]string // the versions of the existing widgets, by name
	watcher *watcher[*widget]
	trace   []string
}

func newTroubled(t *testing.T, c *cluster, seed uint64) *troubled {
	t.Helper()
	w := &troubled{cluster: c, random: rand.New(rand.NewPCG(seed, 0)), objects: map[string]string{}} //nolint:gosec // a seed repeats itself
	c.server.Intercept(w.meet)
	config := c.config()
	if seed%2 == 0 {
		config.Wrap(reflector.Wire)
	}
	w.watcher = run[*widget](t, reflector.FromDynamic(dynamic.NewForConfigOrDie(config), widgetsV1, ""))
	return w
}

// meet fails requests as the troubles say. It runs on the goroutines of the requests, while the
// driver sleeps.
func (w *troubled) meet(_ context.Context, r informertest.Request) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.wrong.down:
		return apierrors.NewServiceUnavailable("down")
	case w.wrong.hidden && r.Resource == "widgets":
		return apierrors.NewNotFound(widgetsV1.GroupResource(), "")
	}
	return nil
}

func (w *troubled) play() {
	for i := range 30 {
		w.deed(i)
		time.Sleep(time.Duration(w.random.IntN(20_000)) * time.Millisecond)
		w.listen()
	}
	w.be(troubles{})
	if w.random.IntN(3) > 0 {
		w.redefine("v1")
		w.create("v1", "last")
		w.objects["last"] = "v1"
	}
	time.Sleep(3 * time.Minute)
	w.listen()
	var names []string
	for one := range w.watcher.Indexer().All() {
		names = append(names, one.GetName())
	}
	slices.Sort(names)
	want := make([]string, 0, len(w.objects))
	for name, version := range w.objects {
		if version == "v1" {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	if w.served["v1"] {
		w.watcher.requireUp()
		require.Equal(w.t, want, append([]string{}, names...), "%q", w.trace)
	} else { // objects whose deletion was missed stay
		w.watcher.requireWaits()
	}
	require.Less(w.t, w.requests(""), 2000, "there is no storm")
}

// listen requires that the handler got no delete of an existing widget.
func (w *troubled) listen() {
	for _, recorded := range strings.Split(w.watcher.tells(), ", ") {
		name, deleted := strings.CutPrefix(recorded, "deleted ")
		if _, there := w.objects[name]; deleted && there {
			w.t.Fatalf("%s exists, but its deletion was delivered: %q", name, w.trace)
		}
	}
}

func (w *troubled) be(wrong troubles) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = wrong
}

// redefine makes the server serve versions. All widgets are gone with the versions served before.
func (w *troubled) redefine(versions ...string) {
	w.define(versions...)
	clear(w.objects)
}

func (w *troubled) deed(i int) {
	versions := [][]string{{"v1"}, {"v2"}, {"v1", "v2"}}[w.random.IntN(3)]
	wrong := w.wrong
	switch n := w.random.IntN(8); {
	case n == 0:
		w.redefine(versions...)
		w.trace = append(w.trace, fmt.Sprint("define ", versions))
	case n == 1 && len(w.served) > 0:
		w.undefine()
		clear(w.objects)
		w.trace = append(w.trace, "undefine")
	case n < 5 && len(w.served) > 0:
		name := fmt.Sprint("w", i)
		version := "v1"
		if !w.served[version] {
			version = "v2"
		}
		w.create(version, name)
		w.objects[name] = version
		w.trace = append(w.trace, "create "+name)
	case n == 5:
		w.server.CutWatches()
		w.trace = append(w.trace, "cut")
	case n == 6:
		wrong.down = !wrong.down
	case n == 7:
		wrong.hidden = !wrong.hidden
		w.server.CutWatches()
	}
	if wrong != w.wrong {
		w.be(wrong)
		w.trace = append(w.trace, fmt.Sprintf("%+v", wrong))
	}
	synctest.Wait()
}
