package engine_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// batches records the changes of every batch, one list of lines per call. It panics on chosen
// changes, and waits at its gate before a call returns.
type batches struct {
	mu      sync.Mutex
	calls   [][]string
	panicOn []string      // the lines of the changes on which it panics
	gate    chan struct{} // nil for none
}

func (b *batches) handle(batch informer.Batch[*corev1.Pod]) {
	b.mu.Lock()
	b.calls = append(b.calls, nil)
	b.mu.Unlock()
	for c := range batch.All() {
		b.note(rig.Line(c))
		if slices.Contains(b.panicOn, rig.Line(c)) {
			panic("on purpose")
		}
	}
	if b.gate != nil {
		<-b.gate
	}
}

func (b *batches) note(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()

	last := len(b.calls) - 1
	b.calls[last] = append(b.calls[last], line)
}

// take returns the calls recorded since the previous take.
func (b *batches) take() [][]string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()

	calls := b.calls
	b.calls = nil
	return calls
}

// pass lets one call return.
func (b *batches) pass() {
	b.gate <- struct{}{}
	synctest.Wait()
}

// joinsBatch registers a function that takes batches of up to n changes.
func (f *testCore) joinsBatch(h func(informer.Batch[*corev1.Pod]), n int, o informer.HandlerOptions) informer.Registration {
	r, err := f.view.HandleBatch(h, n, o)
	require.NoError(f.t, err)
	return r
}

// adds returns deltas that add n pods, and the lines that handlers record for these adds.
func adds(from, n int) (deltas []deltafifo.Delta, lines []string) {
	for i := from; i < from+n; i++ {
		p := kit.Pod(fmt.Sprintf("p%03d", i), fmt.Sprint(i))
		deltas = append(deltas, deltaOf(deltafifo.Added, p))
		lines = append(lines, rig.Line(informer.Change[*corev1.Pod]{Kind: informer.Added, New: p}))
	}
	return deltas, lines
}

func sizes(calls [][]string) (sizes []int) {
	for _, call := range calls {
		sizes = append(sizes, len(call))
	}
	return sizes
}

// A call receives up to n of the changes that are ready, and does not wait for more. This holds for
// the initial state too, and for n above burst.
func TestABatchIsWhatIsReady(t *testing.T) {
	for _, c := range []struct {
		n, objects int
		want       []int
	}{
		{1, 3, []int{1, 1, 1}},
		{3, 7, []int{3, 3, 1}},
		{10, 7, []int{7}},
		{delivery.Burst + 36, 250, []int{delivery.Burst + 36, delivery.Burst + 36, 250 - 2*(delivery.Burst+36)}},
		{1000, 600, []int{600}},
		{math.MaxInt, 300, []int{300}},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.n, c.objects), func(t *testing.T) {
			rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
				f, b := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), &batches{gate: make(chan struct{})}
				r := f.joinsBatch(b.handle, c.n, informer.HandlerOptions{Delivery: d})
				f.start()
				defer close(b.gate)
				f.beginReplace()
				deltas, _ := adds(0, c.objects)
				f.apply(deltas...)
				f.commitReplace("1")
				for range c.want {
					require.False(t, kit.Closed(r.Synced()))
					synctest.Wait()
					b.pass()
				}
				calls := b.take()
				require.Equal(t, c.want, sizes(calls))
				require.Len(t, slices.Compact(slices.Sorted(slices.Values(slices.Concat(calls...)))), c.objects)
				require.True(t, kit.Closed(r.Synced()))

				one, _ := adds(c.objects, 1)
				f.apply(one...)
				require.Equal(t, []int{1}, sizes(b.take()), "it does not wait for more, and is busy now")
				deltas, lines := adds(c.objects+1, c.objects)
				f.apply(deltas...)
				require.Equal(t, 1+c.objects, r.Backlog())
				b.pass()
				for range c.want {
					b.pass()
				}
				calls = b.take()
				require.Equal(t, lines, slices.Concat(calls...), "in their order")
				require.Equal(t, c.want, sizes(calls))
				require.Zero(t, r.Backlog())
			})
		})
	}
}

// If the body of a range over All fails, only the current change is lost. The rest of the batch
// comes with the next call, before later changes.
func TestAFailureInABatchCostsOneChange(t *testing.T) {
	kit.SurvivePanics(t)
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		seen := rig.NewEvents()
		f := newTestCore(t, informer.Options[*corev1.Pod]{Observe: seen.Observe}, 1)
		b := &batches{panicOn: []string{"initial b@1", "add p001@1", "add p003@3"}}
		r := f.joinsBatch(b.handle, 4, informer.HandlerOptions{Delivery: d})
		f.start()
		f.list("1", kit.Pod("b", "1"))
		require.Equal(t, [][]string{{"initial b@1"}}, b.take())
		require.True(t, kit.Closed(r.Synced()))

		deltas, lines := adds(0, 7)
		f.apply(deltas...)
		require.Equal(t, [][]string{lines[:2], lines[2:4], lines[4:]}, b.take())
		require.Zero(t, r.Backlog())
		require.Equal(t, 3, f.Status().Handlers[0].Failures)
		require.Equal(t, 3, len(rig.Of[informer.Event](seen)))
		require.NoError(t, f.WaitDelivered(t.Context(), "6"))
	})
}

// A function that fails without having read any change of its batch loses the whole batch.
func TestAFailureWithoutSayingWhoseTurnItIsCostsTheBatch(t *testing.T) {
	kit.SurvivePanics(t)
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		var lens []int
		r := f.joinsBatch(func(b informer.Batch[*corev1.Pod]) {
			lens = append(lens, b.Len())
			panic("on purpose")
		}, 3, informer.HandlerOptions{Delivery: d})
		f.start()
		f.list("1", kit.Pod("a", "1"))
		deltas, _ := adds(0, 8)
		f.apply(deltas...)
		synctest.Wait()
		require.Equal(t, []int{1, 3, 3, 2}, lens)
		require.Zero(t, r.Backlog())
		require.Equal(t, 4, f.Status().Handlers[0].Failures)
	})
}

// A function that fails after it has read its whole batch does not receive the batch again. If the
// function returns early, the changes that it has not read count as handled.
func TestABatchThatWasReadComesOnce(t *testing.T) {
	kit.SurvivePanics(t)
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		var recorded []string
		f.joinsBatch(func(b informer.Batch[*corev1.Pod]) {
			for c := range b.All() {
				recorded = append(recorded, rig.Line(c))
				if c.New.Name == "p001" {
					return // p002 and p003 count as handled
				}
			}
			require.Zero(t, b.Len())
			for c := range b.All() {
				recorded = append(recorded, "again "+rig.Line(c))
			}
			panic("on purpose")
		}, 4, informer.HandlerOptions{Delivery: d})
		f.start()
		f.list("1")
		deltas, lines := adds(0, 6)
		f.apply(deltas...)
		synctest.Wait()
		require.Equal(t, []string{lines[0], lines[1], lines[4], lines[5]}, recorded)
	})
}

// Stop does not shorten the batch of a call in progress, but no other call follows.
func TestStopInABatch(t *testing.T) {
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		gate, recorded := make(chan struct{}), 0
		r := f.joinsBatch(func(b informer.Batch[*corev1.Pod]) {
			for range b.All() {
				recorded++
				<-gate
			}
		}, 4, informer.HandlerOptions{Delivery: d})
		f.start()
		f.list("1")
		deltas, _ := adds(0, 9)
		f.apply(deltas...)
		synctest.Wait()
		r.Stop()
		require.Zero(t, r.Backlog())
		require.False(t, kit.Closed(r.Done()))
		close(gate)
		<-r.Done()
		require.Equal(t, 4, recorded, "the call is the last")
	})
}

// The end of a run does not interrupt a call. What follows the call's batch is dropped.
func TestARunEndsInABatch(t *testing.T) {
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		s, b := rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"), kit.Pod("c", "3")), &batches{gate: make(chan struct{})}
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		_, err := i.HandleBatch(b.handle, 2, informer.HandlerOptions{Delivery: d})
		require.NoError(t, err)
		cancel, wait := rig.Starts(t, i)
		require.Equal(t, []int{2}, sizes(b.take()))
		cancel()
		b.pass()
		wait()
		close(b.gate)
		require.Empty(t, b.take())
	})
}

// A recreated object is two changes, a delete and an add. They come in one call or in two, and no
// call receives more than n changes.
func TestARecreatedObjectInBatches(t *testing.T) {
	for n, want := range map[int][][]string{
		1: {{"lost a@1"}, {"add a@3"}, {"add b@4"}},
		2: {{"lost a@1", "add a@3"}, {"add b@4"}},
		3: {{"lost a@1", "add a@3", "add b@4"}},
	} {
		rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
			f, b := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), &batches{gate: make(chan struct{})}
			r := f.joinsBatch(b.handle, n, informer.HandlerOptions{Delivery: d})
			f.start()
			f.list("1", kit.Pod("a", "1", kit.UID("one")))
			require.Len(t, b.take(), 1, "the initial state, and it is stuck in that")
			f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "3", kit.UID("two"))), deltaOf(deltafifo.Added, kit.Pod("b", "4")))
			close(b.gate)
			require.Equal(t, want, b.take())
			require.Zero(t, r.Backlog())
		})
	}
}

// A call may end between the delete and the add of a recreated object, although Latest takes both
// at once and so one change more than n.
func TestARecreatedObjectAtTheEndOfABatch(t *testing.T) {
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		f, b := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), &batches{gate: make(chan struct{})}
		f.joinsBatch(b.handle, 2, informer.HandlerOptions{Delivery: d})
		f.start()
		f.list("1", kit.Pod("a", "1", kit.UID("one")))
		require.Len(t, b.take(), 1)
		f.apply(deltaOf(deltafifo.Added, kit.Pod("b", "2")), deltaOf(deltafifo.Modified, kit.Pod("a", "3", kit.UID("two"))))
		close(b.gate)
		require.Equal(t, [][]string{{"add b@2", "lost a@1"}, {"add a@3"}}, b.take())
	})
}

// A resync comes in batches too, but never in a batch with other changes.
func TestAResyncInBatches(t *testing.T) {
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		f, b := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), &batches{gate: make(chan struct{})}
		r := f.joinsBatch(b.handle, 2, informer.HandlerOptions{Delivery: d, Resync: time.Minute})
		f.start()
		f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"), kit.Pod("c", "1"))
		synctest.Wait()
		b.pass()
		b.pass()
		require.Equal(t, []int{2, 1}, sizes(b.take()))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Zero(t, r.Backlog(), "a resync does not count")
		f.apply(deltaOf(deltafifo.Added, kit.Pod("d", "2")))
		close(b.gate)
		calls := b.take()
		slices.Sort(calls[0])
		all := slices.Sorted(slices.Values(slices.Concat(calls...)))
		require.Equal(t, []string{"add d@2", "update a@1 a@1", "update b@1 b@1", "update c@1 c@1"}, all)
		require.Equal(t, []int{2, 1, 1}, sizes(calls))
		if d == informer.Every {
			require.Equal(t, []string{"add d@2"}, calls[2])
		} else {
			require.Equal(t, []string{"add d@2"}, calls[1], "changes come first")
		}
	})
}

// The deletions of a relist come in batches, like all other changes, and with Latest too.
func TestTheDeletionsOfARelistComeInBatches(t *testing.T) {
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		var pods []*corev1.Pod
		for n := range 25 {
			pods = append(pods, kit.Pod(fmt.Sprintf("p%02d", n), fmt.Sprint(n+1)))
		}
		s := rig.NewScript("50", pods...)
		i, b := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed}), &batches{}
		_, err := i.HandleBatch(b.handle, 10, informer.HandlerOptions{Delivery: d})
		require.NoError(t, err)
		rig.Start(t, i)
		require.Equal(t, []int{10, 10, 5}, sizes(b.take()))
		s.Set("100", kit.Pod("new", "99"))
		s.Expire()
		calls := b.take()
		require.Equal(t, []int{10, 10, 6}, sizes(calls))
		require.Contains(t, slices.Concat(calls...), "lost p00@1")
		require.Equal(t, "add new@99", calls[2][5], "the deletions come first")
	})
}

// A function that is removed while it is stuck holds its batch, but none of the changes that
// follow.
func TestABatchThatIsStuckAndRemovedHoldsNothingElse(t *testing.T) {
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		f, b := newTestCore(t, informer.Options[*corev1.Pod]{}, 1), &batches{gate: make(chan struct{})}
		r := f.joinsBatch(b.handle, 2, informer.HandlerOptions{Delivery: d})
		f.start()
		defer close(b.gate)
		f.list("1", kit.Pod("a", "1"))
		require.Len(t, b.take(), 1)
		before := f.churn(100)
		r.Stop()
		after := f.churn(100)
		require.Zero(t, before.Left())
		require.Zero(t, after.Left())
		runtime.KeepAlive(r)
	})
}

// D28: a batch function that ends its goroutine does the same; the rest of its batch is not delivered.
func TestContract_D28_ABatchFunction(t *testing.T) {
	kit.NoPanics(t)
	rig.EachDelivery(t, func(t *testing.T, d informer.Delivery) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{Observe: func(informer.Event) {}}, 1)
		var recorded []string
		f.joinsBatch(func(b informer.Batch[*corev1.Pod]) {
			for c := range b.All() {
				if recorded = append(recorded, rig.Line(c)); c.New.Name == "p001" {
					runtime.Goexit()
				}
			}
		}, 4, informer.HandlerOptions{Delivery: d})
		f.start()
		f.list("1")
		deltas, lines := adds(0, 7)
		f.apply(deltas...)
		synctest.Wait()
		require.Equal(t, lines[:2], recorded)
		require.ErrorIs(t, f.ExitError(), informer.ErrExited)
	})
}
