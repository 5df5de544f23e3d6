package delivery

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// A publisher first publishes events, and then wakes parked handlers. If an awake handler reads the events
// and parks in between, the log still keeps them for the parked handlers.
func TestEventsAreKeptForAHandlerThatIsYetToBeWoken(t *testing.T) {
	r, slow, quick := newRig(t), &journal{}, &journal{}
	r1, r2 := r.add(slow, Options{}), r.add(quick, Options{})
	r.list("a")
	for _, handler := range []*Registration{r1, r2} { // without goroutines: the test takes their steps
		handler.life = delivering
		r.deliver(handler)
	}
	require.True(t, r.park(r1), "r1 sleeps")
	r.change("a", 2)
	r.deliver(r2)
	require.True(t, r.park(r2), "r2, which was awake, has read it and sleeps")
	r.wakeAll()
	r.deliver(r1)
	require.Equal(t, []string{"initial a@1", "a@2"}, slow.lines)
}

// Handlers that have received everything sleep, and hold no batch.
func TestHandlersWithNothingToDoSleep(t *testing.T) {
	for _, merge := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			all := []*Registration{r.add(&journal{}, Options{Merge: merge}), r.add(&journal{}, Options{})}
			r.begin()
			r.list("a")
			for n := range 700 {
				r.update("a", n+2)
				require.EqualValues(t, len(all), r.asleep.Load())
			}
			for _, handler := range all {
				require.Nil(t, handler.taken.Load())
				require.Equal(t, "a@701", handler.receiver.(*journal).lines[700])
			}
		})
	}
}

// Publishing many events takes a while. A busy handler does not lag behind events that are not published yet.
func TestNoBacklogIsNegative(t *testing.T) {
	const many = 1 << 19
	r, b := newRig(t), eventlog.NewBatch(Burst)
	f := &r.NewRegistration(&journal{}, Options{}).feed
	f.start(indexer.Snapshot[any]{}, r.log.Published())
	for range many {
		r.log.Append(eventlog.Event{Header: eventlog.Header{Kind: eventlog.Added}})
	}
	go r.log.Publish()
	for taken := 0; taken < many; {
		if f.take(b) {
			taken += b.Left()
			b.Empty()
			f.progress(0)
		}
		if events, _ := f.pending(); events < 0 {
			t.Fatalf("after %d events the backlog is %d", taken, events)
		}
	}
}

// Events for a lagging handler are merged after the write section that has published them.
func TestAWriteSectionMergesNothing(t *testing.T) {
	r := newRig(t)
	lagging := r.add(&journal{}, Options{Merge: true})
	r.list()
	tx := r.store.Begin()
	for range 2 * BehindLimit {
		r.log.Append(eventlog.Event{Pair: eventlog.Pair{New: pod("a", 1)}, Header: eventlog.Header{Kind: eventlog.Added}})
	}
	r.Publish()
	tx.Commit()
	require.Equal(t, 2*BehindLimit, lagging.Backlog())
	r.MergeBehind()
	require.Equal(t, 1, lagging.Backlog(), "one object")
}

func TestAFeedThatIsClosedCountsNothing(t *testing.T) {
	for _, merge := range []bool{false, true} {
		f := &newRig(t).NewRegistration(&journal{}, Options{Merge: merge}).feed
		f.close()
		f.progress(1)
		require.Zero(t, f.total())
	}
}

// The end of a run drops the events that are not delivered. What the handler has got is still known.
func TestTheEndOfARunReleasesTheFeeds(t *testing.T) {
	for _, merge := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r, j := newRig(t), &journal{gate: make(chan struct{})}
			handler := r.add(j, Options{Merge: merge})
			ctx, cancel := context.WithCancel(t.Context())
			r.run.Context = ctx
			r.Start(r.run)
			r.list("a")
			synctest.Wait()
			j.pass(1)
			r.update("a", 2)
			r.update("a", 3)
			require.Equal(t, 2, handler.Backlog())
			r.run.Stopping.Store(true)
			cancel()
			j.pass(1)
			r.run.Handlers.Wait()
			require.Zero(t, handler.Backlog())
			require.Nil(t, handler.taken.Load())
			require.Nil(t, handler.feed.changes)
			require.Zero(t, handler.feed.cursor)
			position, ok := handler.feed.delivered()
			require.True(t, ok)
			require.EqualValues(t, 1, position, "it has got a@2")
		})
	}
}

// When a handler is removed, or its run ends, the log releases the objects that only this handler has not read.
func TestTheLogHoldsNothingForAHandlerThatLeft(t *testing.T) {
	for _, others := range []int{0, 1} {
		for _, ends := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				r, stuck := newRig(t), &journal{gate: make(chan struct{})}
				handler := r.add(stuck, Options{})
				for range others {
					r.add(&journal{}, Options{})
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r.run.Context = ctx
				r.Start(r.run)
				r.list("a")
				synctest.Wait() // it is stuck with the initial state
				r.update("a", 2)
				g := r.ghostOf("a")
				r.update("a", 3)
				r.update("a", 4)
				if ends {
					cancel()
					close(stuck.gate)
					r.run.Handlers.Wait()
				} else {
					handler.Stop()
					synctest.Wait()
				}
				require.Zero(t, g.Left())
				if !ends {
					close(stuck.gate)
				}
				runtime.KeepAlive(r)
			})
		}
	}
}

// A resync of merged changes leaves out objects that have changed in the meantime. It looks at only a few
// objects while it holds the feed, because the publisher may wait for the feed.
func TestAResyncOfWhatHasChangedHoldsTheFeedBriefly(t *testing.T) {
	r := newRig(t)
	handler := r.add(&journal{}, Options{Merge: true})
	var names []string
	for n := range 10 * Burst {
		names = append(names, fmt.Sprint("p", n))
	}
	r.list(names...)
	r.deliver(handler)
	r.resync(handler)
	for _, name := range names {
		r.change(name, 2)
	}
	f, b, recorded := &handler.feed, eventlog.NewBatch(Burst), 0
	for left := f.walk.left(); f.take(b); left = f.walk.left() {
		require.LessOrEqual(t, left-f.walk.left(), Burst)
		recorded += b.Left()
		b.Empty()
		f.progress(0)
	}
	require.Equal(t, len(names), recorded, "each change")
	require.Equal(t, feedFollowing, f.state)
	require.False(t, f.ready())
}

// A handler that is always behind releases the snapshot of a resync once the resync has ended.
func TestAResyncOfABusyHandlerKeepsNoSnapshot(t *testing.T) {
	for _, merge := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r, j := newRig(t), &journal{gate: make(chan struct{})}
			handler := r.add(j, Options{Merge: merge, Resync: time.Minute})
			r.begin()
			r.list("a", "busy")
			synctest.Wait()
			j.pass(2)
			r.update("busy", 2)
			time.Sleep(time.Minute)
			for n := range 5 {
				r.update("busy", 3+n)
				j.pass(1)
			}
			require.Contains(t, j.lines, "a@1", "the resync")
			handler.feed.mu.Lock()
			state, left := handler.feed.state, handler.feed.walk.objects.Len()
			handler.feed.mu.Unlock()
			require.Equal(t, feedFollowing, state)
			require.Zero(t, left)
			close(j.gate)
		})
	}
}

// A wait for a handler ends when the handler has received everything that was published before the wait.
func TestWaitingForAHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRig(t), &journal{gate: make(chan struct{})}
		handler := r.add(j, Options{})
		r.begin()
		r.list("a")
		r.update("a", 2)
		handler.Progress.Join()
		position := r.log.End()
		j.pass(1)
		more := handler.Until(position)
		require.False(t, closed(more))
		r.update("a", 3)
		j.pass(1)
		require.True(t, closed(more))
		require.Nil(t, handler.Until(position), "a@3 came later")
		handler.Progress.Leave()
		require.False(t, handler.Progress.awaited())
		position = r.log.End()
		require.NotNil(t, handler.Until(position))
		j.pass(1)
		require.Nil(t, handler.Until(position))
	})
}

// exits is a receiver whose handler ends its goroutine.
type exits struct{ journal }

func (e *exits) CallHandler(b *eventlog.Batch) {
	e.journal.CallHandler(b)
	runtime.Goexit()
}

// A handler that ends its goroutine ends the run.
func TestAHandlerThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var ended error
		r.run.Exit = func(err error) { ended = err }
		r.add(&exits{}, Options{})
		r.begin()
		require.NoError(t, ended)
		r.list("a", "b")
		synctest.Wait()
		require.ErrorIs(t, ended, indexer.ErrExited)
	})
}

// Work that ends its goroutine of a run ends the run. Work that returns or panics does not.
func TestWithin(t *testing.T) {
	exited := 0
	run := &Run{Exit: func(err error) {
		exited++
		require.ErrorIs(t, err, indexer.ErrExited)
	}}
	run.Within(func() {})
	require.PanicsWithError(t, "on purpose", func() { run.Within(func() { panic(errors.New("on purpose")) }) })
	require.Zero(t, exited)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run.Within(runtime.Goexit)
	}()
	<-ended
	require.Equal(t, 1, exited)
}
