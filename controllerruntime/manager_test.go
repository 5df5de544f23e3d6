package controllerruntime

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// newServer returns an API server that closes with the test.
func newServer(t *testing.T) *informertest.Server {
	t.Helper()
	s := informertest.New(informertest.Options{})
	t.Cleanup(s.Close)
	require.NoError(t, s.StartInMemory())
	return s
}

func newPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "web"}}}
}

// quiet are options of a manager that opens no port.
func quiet() ctrl.Options {
	return ctrl.Options{Metrics: server.Options{BindAddress: "0"}}
}

// runs runs a manager until the test ends.
func runs(t *testing.T, m ctrl.Manager) {
	t.Helper()
	t.Cleanup(begin(t, m))
	<-m.Elected() // all has started: before that, controller-runtime polls without a pause if it is stopped
}

// begin starts a manager. The function it returns stops the manager, and waits for its end.
func begin(t *testing.T, m ctrl.Manager) (end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	return func() {
		stop()
		require.NoError(t, <-ended)
		m.GetHTTPClient().CloseIdleConnections()
	}
}

// A manager made by NewManager has tidemark's informers, and changes nothing of its caller's.
func TestNewManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		require.NoError(t, s.Create(t.Context(), newPod("a", "one")))
		config, options := s.ClientConfig(), quiet()
		m, err := NewManager(config, options)
		require.NoError(t, err)
		require.Nil(t, config.WrapTransport)
		require.Nil(t, options.Cache.NewInformer)
		require.NotSame(t, config, m.GetConfig())
		require.NotNil(t, m.GetConfig().WrapTransport)
		require.Same(t, m.GetConfig(), m.GetConfig())

		pods, err := m.GetCache().GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		typed, ok := informer.As[*corev1.Pod](pods.(toolscache.SharedIndexInformer))
		require.True(t, ok)
		require.Empty(t, names(InformersOf(m)), "it does not run")
		runs(t, m)
		var pod corev1.Pod
		require.NoError(t, m.GetClient().Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &pod))
		require.Equal(t, 1, typed.Indexer().Len())
		require.Equal(t, []string{"pods"}, names(InformersOf(m)))
		require.NoError(t, m.GetClient().List(t.Context(), &appsv1.DeploymentList{}))
		require.Equal(t, []string{"pods", "deployments.apps"}, names(InformersOf(m)))
		require.NoError(t, m.GetCache().RemoveInformer(t.Context(), &corev1.Pod{}))
		synctest.Wait()
		require.Equal(t, []string{"deployments.apps"}, names(InformersOf(m)))
	})
}

func names(in *Informers) (all []string) {
	for held := range in.All() {
		all = append(all, held.Name())
	}
	return all
}

func TestInformersOfAnotherManager(t *testing.T) {
	m, err := ctrl.NewManager(newServer(t).ClientConfig(), quiet())
	require.NoError(t, err)
	require.Nil(t, InformersOf(m))
	require.Nil(t, InformersOf(nil))
}

// Of informers that have ended nothing is kept.
func TestEndedInformersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := NewManager(newServer(t).ClientConfig(), quiet())
		require.NoError(t, err)
		runs(t, m)
		for range 5 {
			i, err := m.GetCache().GetInformer(t.Context(), &corev1.Pod{})
			require.NoError(t, err)
			require.NoError(t, m.GetCache().RemoveInformer(t.Context(), &corev1.Pod{}))
			<-i.(informer.Shared).Done()
		}
		synctest.Wait()
		require.Empty(t, InformersOf(m).running)
	})
}

func TestContradictions(t *testing.T) {
	yes := true
	for name, row := range map[string]struct {
		change func(*ctrl.Options)
		option Option
		says   string
	}{
		"another NewInformer":       {func(o *ctrl.Options) { o.Cache.NewInformer = informer.ForControllerRuntime }, nil, "NewInformer"},
		"the cache's HTTP client":   {func(o *ctrl.Options) { o.Cache.HTTPClient = http.DefaultClient }, nil, "HTTPClient"},
		"the client's HTTP client":  {func(o *ctrl.Options) { o.Client.HTTPClient = http.DefaultClient }, nil, "HTTPClient"},
		"two ways to read a write":  {waits(&yes), OwnWrites(reflector.NewOwnWrites()), "EnableReadYourWritesConsistency"},
		"reads that wait":           {waits(&yes), nil, ""},
		"reads that wait for nil":   {waits(nil), OwnWrites(reflector.NewOwnWrites()), ""},
		"reads that wait, no cache": {func(*ctrl.Options) {}, OwnWrites(reflector.NewOwnWrites()), ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := quiet()
			row.change(&o)
			var more []Option
			if row.option != nil {
				more = append(more, row.option)
			}
			_, err := NewManager(newServer(t).ClientConfig(), o, more...)
			if row.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrOptions)
			require.ErrorContains(t, err, row.says)
		})
	}
}

func waits(enabled *bool) func(*ctrl.Options) {
	return func(o *ctrl.Options) { o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: enabled} }
}

func TestInvalidOptions(t *testing.T) {
	for name, row := range map[string]struct {
		option Option
		want   error
		says   string
	}{
		"a page size":          {PageSize(-1), informer.ErrOutOfRange, "PageSize"},
		"a budget":             {Storage(informer.Storage{Decoded: informer.NewBudget(-1)}), informer.ErrOutOfRange, "Storage"},
		"a field that is kept": {Drop(&corev1.Pod{}, "metadata.name"), reflector.ErrBadOptions, "*v1.Pod"},
		"an index twice":       {Indexes(&corev1.Pod{}, refs.ByOwner[*corev1.Pod](), refs.ByOwner[*corev1.Pod]()), indexer.ErrIndexExists, "*v1.Pod"},
	} {
		t.Run(name, func(t *testing.T) {
			config, o := &rest.Config{}, cache.Options{}
			_, err := Use(config, &o, row.option)
			require.ErrorIs(t, err, row.want)
			require.ErrorContains(t, err, row.says)
			assert.Nil(t, config.WrapTransport)
			assert.Nil(t, o.NewInformer)
		})
	}
	_, err := Use(nil, &cache.Options{})
	require.ErrorIs(t, err, errNoConfig)
	_, err = NewManager(nil, ctrl.Options{})
	require.ErrorIs(t, err, errNoConfig)
	_, err = NewManager(&rest.Config{Host: "://"}, quiet())
	require.Error(t, err, "controller-runtime's")
}

// With OwnWrites the manager's cache has its own writes when the calls return; without, when the watch brings them.
func TestOwnWrites(t *testing.T) {
	for name, options := range map[string][]Option{"with": {OwnWrites(reflector.NewOwnWrites())}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				m, err := NewManager(s.ClientConfig(), quiet(), options...)
				require.NoError(t, err)
				runs(t, m)
				require.NoError(t, m.GetClient().List(t.Context(), &corev1.PodList{}))
				t.Cleanup(s.Stall(informertest.Request{Verb: "watch"}))
				s.CutWatches()
				require.NoError(t, m.GetClient().Create(t.Context(), newPod("a", "one")))
				err = m.GetClient().Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &corev1.Pod{})
				require.Equal(t, options == nil, apierrors.IsNotFound(err), "%v", err)
			})
		})
	}
}

// Use serves a cache without a manager, also of several namespaces: each has an informer.
func TestUse(t *testing.T) {
	s := newServer(t)
	for _, namespace := range []string{"a", "b", "c", "d"} {
		require.NoError(t, s.Create(t.Context(), newPod(namespace, "one")))
	}
	config := s.ClientConfig()
	options := cache.Options{DefaultNamespaces: map[string]cache.Config{"a": {}, "b": {}, "c": {}}}
	informers, err := Use(config, &options)
	require.NoError(t, err)
	c := started(t, config, options)
	var pods corev1.PodList
	require.NoError(t, c.List(t.Context(), &pods))
	require.Len(t, pods.Items, 3)
	require.Equal(t, []string{"pods", "pods", "pods"}, names(informers))
}

// started makes and starts a cache, which stops with the test.
func started(t *testing.T, config *rest.Config, options cache.Options) cache.Cache {
	t.Helper()
	http, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	options.HTTPClient = http
	c, err := cache.New(config, options)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		http.CloseIdleConnections()
	})
	require.True(t, c.WaitForCacheSync(t.Context()))
	return c
}

// A kind that the scheme does not know, and a cluster that does not serve one, are the manager's errors as before.
func TestUnknownKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := quiet()
		o.Scheme = runtime.NewScheme()
		require.NoError(t, corev1.AddToScheme(o.Scheme))
		m, err := NewManager(newServer(t).ClientConfig(), o)
		require.NoError(t, err)
		runs(t, m)
		require.ErrorContains(t, m.GetClient().List(t.Context(), &appsv1.DeploymentList{}), "no kind is registered")
		require.NoError(t, m.GetClient().List(t.Context(), &corev1.PodList{}))
		require.Equal(t, []string{"pods"}, names(InformersOf(m)))
	})
}
