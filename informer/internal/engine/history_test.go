package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// history writes random replacements and changes to the sinks of a core, through a transform that
// strips identities and fails on some objects. It also keeps the reference model: the objects that
// the store must hold, with the server's versions.
type history struct {
	*testCore
	rand     *rand.Rand
	serial   int
	stored   map[indexer.Key]*corev1.Pod // as the server sent it
	source   map[indexer.Key]uint16
	poisoned map[indexer.Key]uint16
	size     int // objects in each source
}

// strip is a transform that moves the server's version into an annotation, removes the UID, and
// fails on poisoned objects.
func strip(p *corev1.Pod) (*corev1.Pod, error) {
	if _, err := rig.FailByLabel(p); err != nil {
		return nil, err
	}
	p.Annotations = map[string]string{"version": p.ResourceVersion}
	p.ResourceVersion, p.UID = "", ""
	return p, nil
}

func (h *history) sink(source uint16) *engine.Sink {
	return h.Sink(source)
}

// next makes another version of a pod, now and then poisoned or with another UID.
func (h *history) next(name string) *corev1.Pod {
	h.serial++
	p := kit.Pod(name, fmt.Sprint(h.serial))
	if old := h.stored[rig.Named(name)]; old != nil && h.rand.IntN(10) > 0 {
		p.UID = old.UID
	} else {
		kit.UID(fmt.Sprint("uid-", h.serial))(p)
	}
	if h.rand.IntN(15) == 0 {
		kit.Label("poison", []string{"error", "panic"}[h.rand.IntN(2)])(p)
	}
	return p
}

func (h *history) name(source uint16) string {
	return fmt.Sprint("p", source, "-", h.rand.IntN(h.size))
}

// list sends a replacement of a source in batches, mostly with the objects that are there already.
func (h *history) list(source uint16, changed int) {
	ctx := h.t.Context()
	in := h.sink(source)
	next := map[string]*corev1.Pod{}
	for key, p := range h.stored {
		if h.source[key] == source && h.rand.IntN(20) > 0 {
			next[key.Name] = p
		}
	}
	for range changed {
		name := h.name(source)
		next[name] = h.next(name)
	}
	require.NoError(h.t, in.Begin(ctx, 0))
	var batch []deltafifo.Delta
	flush := func() {
		writeBatch(h.t, in, batch)
		batch = nil
		h.drain(h.t)
	}
	for _, p := range next {
		if batch = append(batch, deltaOf(deltafifo.Added, p.DeepCopy())); len(batch) == 1000 {
			flush()
		}
	}
	flush()
	if h.rand.IntN(8) == 0 {
		require.NoError(h.t, in.Abort(ctx))
		h.drain(h.t)
		return
	}
	h.serial++
	require.NoError(h.t, in.Commit(ctx, fmt.Sprint(h.serial)))
	h.drain(h.t)
	for key := range h.stored {
		if h.source[key] == source && next[key.Name] == nil {
			delete(h.stored, key)
		}
	}
	for key, of := range h.poisoned {
		if of == source {
			delete(h.poisoned, key)
		}
	}
	for name, p := range next {
		if old := h.stored[rig.Named(name)]; old != nil && old.UID != p.UID {
			delete(h.stored, rig.Named(name)) // also if the other object fails
		}
		h.note(source, deltafifo.Added, rig.Named(name), p)
	}
}

// note applies one object that the server has sent to the reference model.
func (h *history) note(source uint16, op deltafifo.Op, key indexer.Key, p *corev1.Pod) {
	switch {
	case op == deltafifo.Deleted:
		delete(h.stored, key)
		delete(h.poisoned, key)
	case p.Labels["poison"] != "":
		h.poisoned[key] = source
	default:
		h.stored[key], h.source[key] = p, source
		delete(h.poisoned, key)
	}
}

func (h *history) changes(source uint16, n int) {
	var batch []deltafifo.Delta
	for range n {
		p := h.next(h.name(source))
		d := deltaOf(deltafifo.Modified, p.DeepCopy())
		if h.rand.IntN(4) == 0 {
			d.Op = deltafifo.Deleted
		}
		h.note(source, d.Op, d.Key, p)
		batch = append(batch, d)
	}
	writeBatch(h.t, h.sink(source), batch)
	h.drain(h.t)
}

// compare compares the store with the reference model.
func (h *history) compare() {
	x := podsIn(h.Core)
	require.Equal(h.t, len(h.stored), x.Len())
	for key, p := range h.stored {
		got, ok := x.Get(key)
		require.True(h.t, ok, "%s", key)
		require.Equal(h.t, p.ResourceVersion, got.Annotations["version"])
		id := h.Identity(key, got)
		require.Equal(h.t, object.Identity{Key: key, UID: string(p.UID), Version: p.ResourceVersion}, id)
	}
	require.Equal(h.t, len(h.stored), h.Identities(), "what is kept aside is of what is stored")
	require.Equal(h.t, len(h.poisoned), h.Status().Quarantined)
}

func TestFullStatesAndChangesAgainstTheTwin(t *testing.T) {
	for seed, size := range []int{20, 20, 20, 300, 7000} {
		t.Run(fmt.Sprint("size ", size, " seed ", seed), func(t *testing.T) {
			const parts = 2
			h := &history{
				testCore: newTestCore(t, informer.Options[*corev1.Pod]{Transform: strip}, parts),
				rand:     rand.New(rand.NewPCG(uint64(seed), 3)), //nolint:gosec // a test
				stored:   map[indexer.Key]*corev1.Pod{}, source: map[indexer.Key]uint16{}, poisoned: map[indexer.Key]uint16{},
				size: size,
			}
			f := newCheckedHandler(t, "every", informer.Every, h.rand)
			f.reg = h.register(f, informer.HandlerOptions{})
			h.start()
			for source := range uint16(parts) {
				h.list(source, size)
			}
			rounds := 60
			switch {
			case size > 1000 && tier.Raced() && !tier.Long():
				rounds = 2
			case size > 1000:
				rounds = 6
			}
			for range rounds {
				source := uint16(h.rand.IntN(parts)) //nolint:gosec // 0 or 1
				if h.rand.IntN(3) == 0 {
					h.list(source, h.rand.IntN(size))
				} else {
					h.changes(source, 1+h.rand.IntN(min(size, 500)))
				}
				h.compare()
			}
			h.settled(f.reg)
			f.compare(podsIn(h.Core))
		})
	}
}
