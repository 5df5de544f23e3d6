package cache

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

// queueTwins has a queue of this module and one of client-go. After the same calls they hold the same deltas
// in the same order.
type queueTwins struct {
	t            *testing.T
	rand         *rand.Rand
	ours, theirs Queue
	serial       int
}

func newQueueTwins(t *testing.T, r *rand.Rand) *queueTwins {
	o := DeltaFIFOOptions{KeyFunction: thingKey, EmitDeltaTypeReplaced: r.IntN(2) == 0}
	if r.IntN(3) > 0 {
		o.KnownObjects = knownThings{{"k0", 1}, {"k1", 1}, {"k2", 1}}
	}
	return &queueTwins{t: t, rand: r, ours: NewDeltaFIFOWithOptions(o), theirs: cache.NewDeltaFIFOWithOptions(o)}
}

func (w *queueTwins) step() {
	w.serial++
	some := keyedObject{fmt.Sprint("k", w.rand.IntN(6)), w.serial}
	switch w.rand.IntN(8) {
	case 0, 1:
		w.both(func(q Queue) error { return q.Add(some) })
	case 2:
		w.both(func(q Queue) error { return q.Update(some) })
	case 3:
		w.both(func(q Queue) error { return q.Delete(some) })
	case 4:
		lost := DeletedFinalStateUnknown{Key: some.key, Obj: some}
		w.both(func(q Queue) error { return q.Delete(lost) })
	case 5:
		w.both(Queue.Resync)
	case 6:
		var list []any
		for range w.rand.IntN(4) {
			list = append(list, keyedObject{fmt.Sprint("k", w.rand.IntN(8)), w.serial})
		}
		w.both(func(q Queue) error { return q.Replace(list, "") })
	case 7:
		if w.left() > 0 {
			require.Equal(w.t, popOne(w.t, w.theirs), popOne(w.t, w.ours), "step %d", w.serial)
		}
	}
	require.Equal(w.t, w.theirs.HasSynced(), w.ours.HasSynced(), "step %d", w.serial)
}

func (w *queueTwins) both(do func(Queue) error) {
	require.NoError(w.t, do(w.theirs))
	require.NoError(w.t, do(w.ours))
}

func (w *queueTwins) left() int { return len(w.ours.(*DeltaFIFO).order) }

// end pops the remaining keys.
func (w *queueTwins) end() {
	for range w.left() {
		require.Equal(w.t, popOne(w.t, w.theirs), popOne(w.t, w.ours))
	}
	w.theirs.Close()
	_, err := w.theirs.Pop(nil)
	require.ErrorIs(w.t, err, ErrFIFOClosed, "it had no more")
}

func TestAQueueDoesAsClientgos(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newQueueTwins(t, rand.New(rand.NewPCG(seed, 1)))
			for range 200 {
				w.step()
			}
			w.end()
		})
	}
}
