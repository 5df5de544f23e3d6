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

// patience limits each wait for an expected result. A passing test never waits that long.
const patience = 30 * time.Second

// newInformer is the type of cache.Options.NewInformer.
type newInformer = func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

// implementation is the informer library that a test runs on. Without a constructor, controller-runtime
// uses its default, client-go.
type implementation struct {
	name string
	make newInformer
	wrap transport.WrapperFunc // wraps the rest.Config's transport; may be nil
	anew bool                  // each read returns another copy
}

var (
	clientgo = implementation{name: "clientgo"}
	tidemark = implementation{name: "tidemark", make: tidecache.NewSharedIndexInformer}
	// wired is tidemark, which decodes the server's answers itself.
	wired = implementation{name: "wired", make: informer.ForControllerRuntime, wrap: reflector.Wire}

	// packed is wired, with packed objects that each read decodes.
	packed = implementation{
		name: "packed", wrap: reflector.Wire, anew: true,
		make: used(controllerruntime.Storage(informer.Storage{Decoded: informer.NewBudget(0)})),
	}

	implementations = []implementation{clientgo, tidemark, wired, packed}
)

// used returns the constructor that Use passes to a cache.
func used(more ...controllerruntime.Option) newInformer {
	var o cache.Options
	if _, err := controllerruntime.Use(new(rest.Config), &o, more...); err != nil {
		panic(err)
	}
	return o.NewInformer
}

// rig is an API server, and the configuration of a cache for it.
type rig struct {
	server   *informertest.Server
	gate     *gate
	config   *rest.Config
	http     *http.Client
	informer newInformer
	anew     bool // each read returns another copy
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

// eachFlavour runs a test on each implementation with each Go type for pods.
func eachFlavour(t *testing.T, test func(t *testing.T, r *rig, f flavour)) {
	t.Helper()
	for _, f := range flavours {
		t.Run(f.name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) { test(t, r, f) })
		})
	}
}

// newRig returns an API server that closes with the test. Clients choose the encoding, as in a cluster:
// protobuf if they can.
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

// checkLeaks fails the test if a goroutine is left after the test's cleanup.
func checkLeaks(t testing.TB, make newInformer) {
	t.Helper()
	o := []goleak.Option{
		goleak.IgnoreCurrent(),
		// controller-runtime's own leak: it waits forever for namespaces to sync.
		goleak.IgnoreTopFunction("sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformer.func1"),
	}
	if make == nil {
		// client-go leaves a metadata watch behind with an unreceived event.
		o = append(o, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
	}
	t.Cleanup(func() { goleak.VerifyNone(t, o...) })
}

// ours reports whether the rig uses tidemark. Tests call it where the contract has a difference.
func (r *rig) ours() bool { return r.informer != nil }

// cache makes a cache without starting it.
func (r *rig) cache(t testing.TB, o cache.Options) cache.Cache {
	t.Helper()
	o.HTTPClient, o.NewInformer = r.http, r.informer
	c, err := cache.New(r.config, o)
	require.NoError(t, err)
	return c
}

// started makes and starts a cache. It stops with the test, which fails if the cache leaves a watch
// behind.
func (r *rig) started(t testing.TB, o cache.Options) cache.Cache {
	t.Helper()
	c := r.cache(t, o)
	stop := r.start(t, c)
	t.Cleanup(stop)
	require.True(t, c.WaitForCacheSync(t.Context()))
	return c
}

// start starts a cache. The returned function stops the cache and waits until it has ended.
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

// create creates objects in this order.
func (r *rig) create(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		require.NoError(t, r.server.Create(t.Context(), o))
	}
}

// update stores an object with its current fields.
func (r *rig) update(t *testing.T, o client.Object) {
	t.Helper()
	require.NoError(t, r.server.Update(t.Context(), o))
}

func (r *rig) remove(t *testing.T, o client.Object) {
	t.Helper()
	require.NoError(t, r.server.Delete(t.Context(), o))
}

// await polls until a condition holds. Use it for conditions that no channel signals.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	late := time.After(patience)
	for !holds() {
		select {
		case <-poll.C:
		case <-late:
			require.Fail(t, "timed out waiting for "+what)
		}
	}
}

// receive waits for a value on a channel.
func receive[T any](t testing.TB, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(patience):
		require.Fail(t, "nothing came")
	}
	return got
}
