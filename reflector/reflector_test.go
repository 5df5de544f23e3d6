package reflector

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

func TestRunReturnsWhatIsWrong(t *testing.T) {
	sink := &collector{}
	run := func(src Source, sink Sink, o Options) error { return New(src, sink, o).Run(t.Context()) }
	require.ErrorIs(t, run(Source{}, sink, Options{}), ErrNoSource)
	require.ErrorIs(t, run(From[*corev1.PodList](nil), sink, Options{}), ErrNoSource)
	require.ErrorIs(t, run(FromListerWatcher(nil), sink, Options{}), ErrNoSource)
	require.ErrorIs(t, run(funcs{}.source(), nil, Options{}), ErrNoSink)
	require.ErrorIs(t, run(funcs{}.source(), sink, Options{MinWatchTimeout: -1}), ErrBadOptions)
	require.ErrorIs(t, run(funcs{}.source(), sink, Options{PageSize: -1}), ErrBadOptions)
	require.ErrorIs(t, run(funcs{}.source(), sink, Options{StreamPatience: -1}), ErrBadOptions)
	require.ErrorIs(t, run(funcs{}.source(), sink, Options{ListPatience: -1}), ErrBadOptions)
}

func TestRunRunsOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := New(funcs{}.source(), &collector{}, Options{})
	results := make(chan error)
	for range 3 {
		go func() { results <- r.Run(ctx) }()
	}
	require.ErrorIs(t, <-results, ErrStarted)
	require.ErrorIs(t, <-results, ErrStarted)
	cancel()
	require.NoError(t, <-results)
	require.ErrorIs(t, r.Run(t.Context()), ErrStarted)
}

func TestContract_D8_AListThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &collector{}
		returned := false
		r := runFor(t, time.Second, funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			time.Sleep(time.Hour)
			returned = true
			return list(strings.Fields("5 a@1")), nil
		}}.source(), sink, Options{})
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		require.True(t, returned)
		require.Empty(t, sink.batches, "what a late list brought was not dropped")
		require.Empty(t, r.Version())
	})
}

func TestContract_D8_AWatchThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := 0
		runFor(t, time.Second, funcs{list: empty, watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			time.Sleep(time.Hour)
			return tap{stop: func() { stopped++ }}, nil
		}}.source(), &collector{}, Options{})
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		require.Equal(t, 1, stopped, "a late watch is stopped")
	})
}

// D12: a stream that answers after it was given up is stopped, and the list that followed it
// continues.
func TestContract_D12_LateStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped atomic.Int32
		sink := &collector{}
		src := streamingAs(funcs{list: empty, watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				time.Sleep(time.Minute)
			}
			events := make(chan watch.Event, 1)
			events <- watch.Event{Type: watch.Added, Object: parse("a@2")}
			return tap{events: events, stop: func() { stopped.Add(1) }}, nil
		}}.source(), StreamingUnknown)
		r := runFor(t, 2*time.Minute, src, sink, Options{})
		require.Equal(t, "2", r.Version())
		require.Equal(t, []int{1}, sink.sizes(), "only the watch is read")
		require.EqualValues(t, 2, stopped.Load(), "both are stopped")
	})
}

// D12: a stream whose initial state never ends is given up after the requested timeout.
func TestContract_D12_InitialStateHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "options stream=yes for=9m\nstream: open"+strings.Repeat(" | added a@3 | 9s", 60)+"\nlist: page 5 a@3\n")
		r.run(t)
		require.Contains(t, r.lines, "8m0s        stream refused for 10m0s: "+errStreamEnded.Error())
		require.Contains(t, r.lines, "8m0s        listed list: 1 at \"5\", took 8m0s")
	})
}

// D8: Run returns even if a source's watches are hard to end.
func TestContract_D8_WatchesHardToEnd(t *testing.T) {
	alien := watch.Event{Type: watch.Added, Object: &metav1.Status{}}
	for name, start := range map[string]func(chan watch.Event, chan struct{}){
		"never closes":    func(chan watch.Event, chan struct{}) {},
		"stuck in a send": func(events chan watch.Event, over chan struct{}) { sendUntil(events, over, 2, alien) },
		"sends on":        func(events chan watch.Event, over chan struct{}) { sendUntil(events, over, -1, alien) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events, over := make(chan watch.Event), make(chan struct{})
				go start(events, over)
				opened := func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					return tap{events: events, stop: func() {}}, nil
				}
				runFor(t, time.Second, funcs{list: empty, watch: opened}.source(), &collector{}, Options{})
				close(over)
			})
		})
	}
	t.Run("blocks in Stop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			over := make(chan struct{})
			opened := func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return tap{stop: func() { <-over }}, nil
			}
			runFor(t, time.Second, funcs{list: empty, watch: opened}.source(), &collector{}, Options{})
			close(over)
			time.Sleep(time.Second) // until the abandoned calls have ended
		})
	})
}

// sendUntil sends n events, or events without end, one each millisecond.
func sendUntil(events chan watch.Event, over chan struct{}, n int, e watch.Event) {
	for ; n != 0; n-- {
		select {
		case events <- e:
			time.Sleep(time.Millisecond)
		case <-over:
			return
		}
	}
}

// D8: Run returns even if a source ignores its context and always has another invalid event ready.
func TestContract_D8_Junk(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	events := make(chan watch.Event, 100)
	for range cap(events) {
		events <- watch.Event{Type: watch.Added, Object: &metav1.Status{}}
	}
	opened := func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		return tap{events: events, stop: func() { close(events) }}, nil
	}
	skipped := 0
	r := New(funcs{list: empty, watch: opened}.source(), &collector{}, Options{Observe: func(e Event) {
		if _, ok := e.(Skipped); ok {
			skipped++
			cancel()
		}
	}})
	require.NoError(t, r.Run(ctx))
	require.Equal(t, 1, skipped)
}

// D12: an answer that comes just after its time is not used.
func TestContract_D12_AnswerJustTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped atomic.Int32
		src := streamingAs(funcs{list: empty, watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				<-ctx.Done()
				time.Sleep(wire.Grace / 2)
			}
			return tap{stop: func() { stopped.Add(1) }}, nil
		}}.source(), StreamingUnknown)
		var recorded []Event
		r := runFor(t, time.Minute, src, &collector{}, Options{Observe: func(e Event) { recorded = append(recorded, e) }})
		require.IsType(t, StreamRefused{}, recorded[1], "after what is asked for")
		require.Equal(t, "1", r.Version())
		require.EqualValues(t, 2, stopped.Load(), "both are stopped")
	})
}

// B61: items of a list that the sink cannot take are left out and reported.
func TestContract_B61_ListItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var skipped []Event
		sink := &collector{}
		runFor(t, time.Second, funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			return &corev1.List{Items: []kruntime.RawExtension{{Object: newPod("a")}, {Object: &corev1.Node{}}, {}}}, nil
		}}.source(), sink, ofType[*corev1.Pod](Options{Observe: func(e Event) {
			if _, ok := e.(Skipped); ok {
				skipped = append(skipped, e)
			}
		}}))
		require.Equal(t, []int{1}, sink.sizes())
		require.Len(t, skipped, 2)
	})
}

// A closed watch is drained, so that a source that is sending does not get stuck.
func TestStoppedWatchIsDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan watch.Event)
		sent := false
		go func() {
			events <- watch.Event{Type: watch.Error, Object: &metav1.Status{}}
			events <- watch.Event{Type: watch.Added, Object: parse("a@2")}
			sent = true
			close(events)
		}()
		opened := func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return tap{events: events, stop: func() {}}, nil
		}
		runFor(t, time.Second, funcs{list: empty, watch: opened}.source(), &collector{}, Options{})
		require.True(t, sent)
	})
}

// D8: a full sink waits, until it has room or the context ends.
func TestContract_D8_FullSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recorded []Event
		sink := &collector{wait: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		src := funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			return list(strings.Fields("5 a@1")), nil
		}}.source()
		r := runFor(t, time.Second, src, sink, Options{Observe: func(e Event) { recorded = append(recorded, e) }})
		require.Equal(t, []Event{Asked{Operation: OpList, Cause: CauseStart, Version: "0"}}, recorded, "the end is no failure")
		require.Empty(t, r.Version())
	})
}

func TestContract_T17_GateOff(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "options stream=yes\nlist: page 5 a@3\nwatch: open\n")
		r.run(t)
	})
}

// Lists and watches are written in batches of at most a thousand. A list reuses one array for its
// batches, and a watch another.
func TestContract_B52_Batches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
		events := make(chan watch.Event, 2500)
		for i := range 2500 {
			o := parse(fmt.Sprintf("a%d@%d", i, i+1))
			big.Items = append(big.Items, *o)
			events <- watch.Event{Type: watch.Modified, Object: o}
		}
		src := funcs{
			list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) { return big, nil },
			watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return tap{events: events, stop: func() { close(events) }}, nil
			},
		}.source()
		sink := &collector{}
		r := runFor(t, time.Second, src, sink, Options{})
		require.Equal(t, []int{1000, 1000, 500, 1000, 1000, 500}, sink.sizes())
		require.Equal(t, "2500", r.Version())
		require.Same(t, sink.arrays[0], sink.arrays[1])
		require.Same(t, sink.arrays[3], sink.arrays[4])
		require.NotSame(t, sink.arrays[0], sink.arrays[3], "the array of a list outlives it")
		require.NotSame(t, &big.Items[0], sink.batches[0][0].Object, "B52: an object pins its page")
		require.Equal(t, "a2499", sink.batches[2][499].Object.(*partialObject).Name)
		require.Zero(t, *sink.arrays[4], "what was written is kept")
	})
}

// A list can be garbage collected once it is written, however long the watch lasts.
func TestListsAreFreed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var known weak.Pointer[metav1.PartialObjectMetadataList]
	src := funcs{
		list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			l := list(strings.Fields("5 a@1 b@2")).(*metav1.PartialObjectMetadataList)
			known = weak.Make(l)
			return l, nil
		},
		watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return tap{events: make(chan watch.Event), stop: func() {}}, nil
		},
	}.source()
	sink := &collector{} // keeps the objects
	r := New(src, sink, Options{Observe: func(e Event) {
		if _, ok := e.(WatchStarted); ok {
			runtime.GC()
			require.Nil(t, known.Value())
			cancel()
		}
	}})
	require.NoError(t, r.Run(ctx))
	require.Equal(t, []int{2}, sink.sizes())
}

// An object without a version does not hide the versions before it.
func TestVersionOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan watch.Event, 3)
		for _, word := range []string{"a@2", "b@3", "c@"} {
			events <- watch.Event{Type: watch.Modified, Object: parse(word)}
		}
		r := runFor(t, time.Second, funcs{list: empty, watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return tap{events: events, stop: func() { close(events) }}, nil
		}}.source(), &collector{}, Options{})
		require.Equal(t, "3", r.Version())
	})
}

// Version may be read while the reflector runs.
func TestVersionFromAnyGoroutine(t *testing.T) {
	events := make(chan watch.Event)
	src := funcs{list: empty, watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		return tap{events: events, stop: func() { close(events) }}, nil
	}}.source()
	ctx, cancel := context.WithCancel(t.Context())
	r := New(src, &collector{}, Options{})
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	last := ""
	for i := range 100 {
		events <- watch.Event{Type: watch.Modified, Object: parse(fmt.Sprintf("a@%d", i+2))}
		v := r.Version()
		require.False(t, object.Older(v, last))
		last = v
	}
	cancel()
	require.NoError(t, <-done)
	require.Equal(t, "101", r.Version())
}

func TestBackoff(t *testing.T) {
	for step, want := range map[int]time.Duration{
		1: 800 * time.Millisecond, 2: 1600 * time.Millisecond, 3: 3200 * time.Millisecond,
		6: 25600 * time.Millisecond, 7: 30 * time.Second, 8: 30 * time.Second, 1 << 30: 30 * time.Second,
	} {
		require.Equal(t, want, backoff(step, lastDelay, 0), "step %d", step)
		require.Equal(t, want+want/2, backoff(step, lastDelay, 0.5), "step %d", step)
	}
}

// Without Rand, delays and timeouts are still random.
func TestChanceOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delays := map[time.Duration]bool{}
		runFor(t, time.Hour, funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
			return nil, context.DeadlineExceeded
		}}.source(), &collector{}, Options{Observe: func(e Event) {
			if b, ok := e.(BackedOff); ok {
				require.GreaterOrEqual(t, b.Delay, backoff(b.Attempt, lastDelay, 0))
				require.Less(t, b.Delay, backoff(b.Attempt, lastDelay, 1))
				delays[b.Delay] = true
			}
		}})
		require.Greater(t, len(delays), 20)
	})
}

// Reading a batch from a watch allocates nothing.
func TestReadDoesNotAllocate(t *testing.T) {
	l, fill := reading(t.Context())
	fill()
	l.step(l.read()) // the batch's array
	allocs := testing.AllocsPerRun(50, func() {
		fill()
		l.step(l.read())
		require.Equal(t, doRead, l.action.op)
	})
	require.Less(t, allocs, 10.0, "in a batch of %d events", maxBatch) // the require calls and the race detector have some
}

func BenchmarkRead(b *testing.B) {
	l, fill := reading(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		fill()
		l.step(l.read())
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/maxBatch, "ns/event")
}
