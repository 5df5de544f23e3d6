package reflector

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
)

// funcs is a source made of two functions. Left out, they wait for ctx.
type funcs struct {
	list  func(context.Context, metav1.ListOptions) (kruntime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func (f funcs) List(ctx context.Context, o metav1.ListOptions) (kruntime.Object, error) {
	if f.list == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return f.list(ctx, o)
}

func (f funcs) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if f.watch == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return f.watch(ctx, o)
}

func (f funcs) source() Source {
	return Source{List: f.List, Watch: f.Watch, Streams: StreamingUnsupported}
}

// streamingAs returns a copy of a source that says whether it streams.
func streamingAs(s Source, streams Streaming) Source {
	s.Streams = streams
	return s
}

// neverStreaming returns a copy of a source that cannot stream.
func neverStreaming(s Source) Source { return streamingAs(s, StreamingUnsupported) }

func empty(context.Context, metav1.ListOptions) (kruntime.Object, error) {
	return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
}

// tap is a watch whose events and end the test controls.
type tap struct {
	events chan watch.Event
	stop   func()
}

func (w tap) ResultChan() <-chan watch.Event { return w.events }

func (w tap) Stop() { w.stop() }

// collector is a sink that keeps what it gets.
type collector struct {
	mu      sync.Mutex
	batches [][]deltafifo.Delta
	arrays  []*deltafifo.Delta // the memory of each batch
	version string
	wait    func(context.Context) error
}

func (*collector) Begin(context.Context, History) error { return nil }

func (*collector) Abort(context.Context) error { return nil }

func (c *collector) Write(ctx context.Context, batch []deltafifo.Delta) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches = append(c.batches, append([]deltafifo.Delta(nil), batch...))
	c.arrays = append(c.arrays, &batch[0])
	if c.wait != nil {
		return c.wait(ctx)
	}
	return nil
}

func (c *collector) Commit(_ context.Context, version string) error {
	c.version = version
	return nil
}

func (c *collector) sizes() []int {
	var sizes []int
	for _, batch := range c.batches {
		sizes = append(sizes, len(batch))
	}
	return sizes
}

// runFor runs a reflector of src into sink for some time of the bubble. It fails the test if Run then
// takes more than 100 ms to return.
func runFor(t *testing.T, d time.Duration, src Source, sink Sink, o Options) *Reflector {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	start := time.Now()
	r := New(src, sink, o)
	require.NoError(t, r.Run(ctx))
	require.LessOrEqual(t, time.Since(start)-d, 100*time.Millisecond, "Run did not end with its context")
	return r
}

// reading returns a loop that watches, and fills its watch with a batch.
func reading(ctx context.Context) (l *loop, fill func()) {
	events := make(chan watch.Event, maxBatch)
	l = &loop{
		Reflector:  New(funcs{}.source(), discard{}, Options{}),
		ctx:        ctx,
		conn:       &watchConn{ctx: ctx, events: events},
		deltaMaker: newDeltaMaker(ofType[*partialObject](Options{})),
	}
	l.machine.phase = watching
	o := parse("ns/a@7")
	return l, func() {
		for range maxBatch {
			events <- watch.Event{Type: watch.Modified, Object: o}
		}
	}
}

type discard struct{}

func (discard) Begin(context.Context, History) error { return nil }

func (discard) Write(context.Context, []deltafifo.Delta) error { return nil }

func (discard) Commit(context.Context, string) error { return nil }

func (discard) Abort(context.Context) error { return nil }
