package informer

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// The names of what is in package delivery.
type registration = delivery.Registration

const (
	burst       = delivery.Burst
	behindLimit = delivery.BehindLimit
)

// spell returns keys as client-go writes them.
func spell(keys []indexer.Key) (names []string) {
	for _, key := range keys {
		names = append(names, key.String())
	}
	return names
}

// newShared is client-go's NewSharedIndexInformer, as in package informer/cache.
func newShared(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, ix cache.Indexers) cache.SharedIndexInformer {
	return ForListerWatcher(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: ix})
}

// newOneHandler is client-go's NewInformer, as in package informer/cache.
func newOneHandler(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, h cache.ResourceEventHandler) (cache.Indexer, cache.Controller) {
	return ForOneHandler(cache.InformerOptions{ListerWatcher: lw, ObjectType: example, ResyncPeriod: resync, Handler: h})
}

// silentSource is a source that never answers: the test writes to the sinks itself.
type silentSource struct{}

func (silentSource) List(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silentSource) Watch(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// testCore is a core without processLoop and reflectors: the test applies deltas itself, and the
// handlers run.
type testCore struct {
	engine.Inside
	clientgo *clientgoInformer
	t        *testing.T
	in       *engine.Sink // of source 0
}

func newTestCore(t *testing.T, o Options[*corev1.Pod], sources int) *testCore {
	return newTestCoreOf(t, o, sources, podDecoder{})
}

// newTestCoreOf is newTestCore, for packed pods that a decoder decodes.
func newTestCoreOf(t *testing.T, o Options[*corev1.Pod], sources int, d pack.Decoder) *testCore {
	silent := make([]reflector.Source, sources)
	for i := range silent {
		silent[i] = sourceOf(silentSource{})
	}
	if o.Observe == nil {
		o.Observe = observed
	}
	i := Join(silent, o)
	inside := engine.Inside{Core: i.core}
	f := &testCore{inside, clientgoOf(i), t, inside.Sink(0)}
	f.in.Connect(keeper.Reflector{Encoded: d, AskForBookmark: func() {}, Foreign: func() (uint64, string) { return 0, "" }})
	return f
}

// packedCold are options of an informer that holds its objects packed, and none decoded as well.
func packedCold() Options[*corev1.Pod] {
	return Options[*corev1.Pod]{Storage: Storage{Decoded: NewBudget(0)}}
}

// podDecoder decodes packed pods.
type podDecoder struct{}

func (podDecoder) Type() reflect.Type { return reflect.TypeFor[*corev1.Pod]() }

func (podDecoder) Decode(data []byte, _ pack.Form) (any, error) {
	p := &corev1.Pod{}
	err := p.Unmarshal(data)
	return p, err
}

func (d podDecoder) Meta(data []byte, f pack.Form) (any, error) { return d.Decode(data, f) }

// podsIn returns the typed view of a core's store.
func podsIn(c *engine.Core) *indexer.Indexer[*corev1.Pod] {
	return indexer.View[*corev1.Pod](c.Writer().Indexer())
}

// start lets the handlers run until the test ends.
func (f *testCore) start() {
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(f.t, f.Begin(ctx))
	f.t.Cleanup(func() {
		cancel()
		f.Finish()
	})
}

func (f *testCore) apply(deltas ...deltafifo.Delta) {
	f.Pack(deltas)
	f.Apply(deltas)
}

// list applies a replacement of source 0.
func (f *testCore) list(version string, pods ...*corev1.Pod) {
	f.beginReplace()
	for _, p := range pods {
		f.apply(deltaOf(deltafifo.Added, p))
	}
	f.commitReplace(version)
}

func (f *testCore) beginReplace() { f.apply(deltafifo.Delta{Op: deltafifo.Begin}) }

func (f *testCore) commitReplace(version string) {
	f.apply(deltafifo.Delta{Op: deltafifo.Commit, Version: version})
}

// register adds a handler.
func (f *testCore) register(h Handler[*corev1.Pod], o HandlerOptions) *registration {
	return f.receive(receiverOf(h), o)
}

// receive adds a receiver.
func (f *testCore) receive(to engine.Receiver, o HandlerOptions) *registration {
	r, err := f.Register(to, engine.HandlerOptions{Name: o.Name, Merge: o.Delivery != Every, Resync: o.Resync}, nil)
	require.NoError(f.t, err)
	return r
}

// Inspector returns the inspector of the core.
func (f *testCore) Inspector() *Inspector { return inspectorOf(f.Core) }

// deltaOf returns a delta of a pod.
func deltaOf(op deltafifo.Op, p *corev1.Pod) deltafifo.Delta {
	key, _ := object.KeyOf(p)
	return deltafifo.Delta{Op: op, Key: key, UID: string(p.UID), Version: p.ResourceVersion, Object: p, Stamp: object.StampOf(string(p.UID))}
}

func named(name string) indexer.Key { return indexer.Key{Namespace: "default", Name: name} }

// eventually waits for a condition, outside of synctest bubbles.
func eventually(t *testing.T, what func() bool, message string) {
	t.Helper()
	require.Eventually(t, what, 20*time.Second, time.Millisecond, message)
}

// write sends deltas to the sink of source 0, through the transform, and applies the queued deltas.
func (f *testCore) write(t *testing.T, deltas ...deltafifo.Delta) {
	writeBatch(t, f.in, deltas)
	f.drain(t)
}

// writeBatch sends a batch to a sink as a reflector does.
func writeBatch(t *testing.T, in *engine.Sink, batch []deltafifo.Delta) {
	t.Helper()
	require.NoError(t, in.Write(t.Context(), batch))
}

// apart calls f on a goroutine of its own. It returns false if f has ended the goroutine.
func apart(f func()) (returned bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
		returned = true
	}()
	<-ended
	return returned
}

// take sends a Begin, or a Commit at version 1, to the sink of source 0 and applies it.
func (f *testCore) take(t *testing.T, op deltafifo.Op) {
	in := f.in
	switch op {
	case deltafifo.Begin:
		require.NoError(t, in.Begin(t.Context(), reflector.SameHistory))
	case deltafifo.Commit:
		require.NoError(t, in.Commit(t.Context(), "1"))
	}
	f.drain(t)
}

func (f *testCore) drain(t *testing.T) {
	batch, err := f.Drain(t.Context())
	require.NoError(t, err)
	f.apply(batch...)
}

func bubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// clientgoOf returns an informer's client-go API.
func clientgoOf[T Object](i *Informer[T]) *clientgoInformer { return i.shared.(*clientgoInformer) }
