package controllerruntime

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
	"github.com/tidemark-k8s/tidemark/informer"
	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// patience bounds each wait for an expected result. A test that passes never
// waits that long.
const patience = 30 * time.Second

// newInformer is the type of cache.Options.NewInformer.
type newInformer = func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

// implementation is the informer library that a test runs on. Without a
// constructor it is controller-runtime's own choice, client-go.
type implementation struct {
	name string
	make newInformer
	wrap transport.WrapperFunc // of the rest.Config; nil for none
	anew bool                  // each read decodes another object
}

var (
	clientgo = implementation{name: "clientgo"}
	tidemark = implementation{name: "tidemark", make: tidecache.NewSharedIndexInformer}
	// wired is tidemark, decoding the server's answers itself.
	wired = implementation{name: "wired", make: informer.ForControllerRuntime, wrap: reflector.Wire}

	// packed is wired, with objects that are decoded at each read.
	packed = implementation{
		name: "packed", wrap: reflector.Wire, anew: true,
		make: used(controllerruntime.Storage(informer.Storage{Decoded: informer.NewBudget(0)})),
	}

	implementations = []implementation{clientgo, tidemark, wired, packed}
)

// used returns the constructor that Use gives a cache.
func used(more ...controllerruntime.Option) newInformer {
	var o cache.Options
	if _, err := controllerruntime.Use(new(rest.Config), &o, more...); err != nil {
		panic(err)
	}
	return o.NewInformer
}

// rig is an API server, and the configuration of a cache of it.
type rig struct {
	server   *informertest.Server
	gate     *gate
	config   *rest.Config
	http     *http.Client
	informer newInformer
	anew     bool // each read decodes another object
}

// each runs a test on each implementation.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	for _, i := range implementations {
		t.Run(i.name, func(t *testing.T) {
			test(t, newRig(t, i, informertest.Options{}))
		})
	}
}

// eachFlavour runs a test on each implementation with each Go type that pods come in.
func eachFlavour(t *testing.T, test func(t *testing.T, r *rig, f flavour)) {
	t.Helper()
	for _, f := range flavours {
		t.Run(f.name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) { test(t, r, f) })
		})
	}
}

// newRig returns an API server that closes with the test. Clients choose the
// encoding, as they do on a cluster: protobuf where they can.
func newRig(t testing.TB, i implementation, o informertest.Options) *rig {
	t.Helper()
	checkLeaks(t, i.make)
	server := informertest.New(o)
	g := &gate{server: server}
	front := httptest.NewServer(g)
	config := &rest.Config{Host: front.URL, QPS: -1, WrapTransport: i.wrap}
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		server.Close()
		utilnet.CloseIdleConnectionsFor(client.Transport)
		front.Close()
	})
	return &rig{server: server, gate: g, config: config, http: client, informer: i.make, anew: i.anew}
}

// checkLeaks fails the test if a goroutine outlives the test's cleanup.
func checkLeaks(t testing.TB, make newInformer) {
	t.Helper()
	o := []goleak.Option{
		goleak.IgnoreCurrent(),
		// controller-runtime's own: it waits for ever for namespaces to sync.
		goleak.IgnoreTopFunction("sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformer.func1"),
	}
	if make == nil {
		// client-go leaves behind a watch of metadata with an event that nobody receives.
		o = append(o, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
	}
	t.Cleanup(func() { goleak.VerifyNone(t, o...) })
}

// ours reports whether the rig runs on tidemark. Tests call it where the
// contract names a difference.
func (r *rig) ours() bool { return r.informer != nil }

// cache makes a cache that has not been started.
func (r *rig) cache(t testing.TB, o cache.Options) cache.Cache {
	t.Helper()
	o.HTTPClient, o.NewInformer = r.http, r.informer
	c, err := cache.New(r.config, o)
	require.NoError(t, err)
	return c
}

// started makes a cache and starts it. It stops with the test, which fails if
// the cache leaves a watch behind.
func (r *rig) started(t testing.TB, o cache.Options) cache.Cache {
	t.Helper()
	c := r.cache(t, o)
	stop := r.start(t, c)
	t.Cleanup(stop)
	require.True(t, c.WaitForCacheSync(t.Context()))
	return c
}

// start starts a cache. The function it returns stops the cache and waits for its end.
func (r *rig) start(t testing.TB, c cache.Cache) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	return func() {
		cancel()
		require.NoError(t, receive(t, ended))
		r.watches(t, 0)
	}
}

// watches waits until n watches are open.
func (r *rig) watches(t testing.TB, n int) {
	t.Helper()
	await(t, "the number of watches", func() bool { return r.server.Watches() == n })
}

// create stores objects, in this order.
func (r *rig) create(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		require.NoError(t, r.server.Create(t.Context(), o))
	}
}

// update stores an object with its present fields.
func (r *rig) update(t *testing.T, o client.Object) {
	t.Helper()
	require.NoError(t, r.server.Update(t.Context(), o))
}

func (r *rig) remove(t *testing.T, o client.Object) {
	t.Helper()
	require.NoError(t, r.server.Delete(t.Context(), o))
}

// await polls until a condition holds, for conditions that no channel signals.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	late := time.After(patience)
	for !holds() {
		select {
		case <-poll.C:
		case <-late:
			require.Fail(t, "waited for "+what+" in vain")
		}
	}
}

// receive waits for a value from a channel.
func receive[T any](t testing.TB, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(patience):
		require.Fail(t, "nothing came")
	}
	return got
}
