package informer_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/transport"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

type widget = unstructured.Unstructured

var widgetsV1 = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// cluster is a server that may serve the resource widgets. It records the requests of its clients.
type cluster struct {
	t      *testing.T
	server *informertest.Server
	served map[string]bool // the versions of widgets that the server serves

	mu    sync.Mutex
	asked []string // the paths of all requests, with the time since the start
	start time.Time
}

// inCluster runs a test with a cluster, in virtual time.
func inCluster(t *testing.T, test func(*testing.T, *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{t: t, server: informertest.New(informertest.Options{}), served: map[string]bool{}, start: time.Now()}
		require.NoError(t, c.server.StartInMemory())
		t.Cleanup(c.server.Close)
		test(t, c)
	})
}

// config returns a client configuration that records the requests.
func (c *cluster) config() *rest.Config {
	config := c.server.ClientConfig()
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			c.mu.Lock()
			c.asked = append(c.asked, fmt.Sprint(time.Since(c.start).Round(time.Second), " ", r.URL.Path))
			c.mu.Unlock()
			return next.RoundTrip(r)
		})
	})
	return config
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// requests counts the requests whose path contains a text.
func (c *cluster) requests(text string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.asked {
		if strings.Contains(r, text) {
			n++
		}
	}
	return n
}

// define makes the server serve exactly these versions, without a widget.
func (c *cluster) define(versions ...string) {
	c.t.Helper()
	c.undefine()
	for _, version := range versions {
		gv := schema.GroupVersion{Group: "example.com", Version: version}
		require.NoError(c.t, c.server.Register(informertest.Kind{GVR: gv.WithResource("widgets"), GVK: gv.WithKind("Widget"), Namespaced: true}))
		c.served[version] = true
	}
}

// undefine removes the resource with all widgets.
func (c *cluster) undefine() {
	c.t.Helper()
	for version := range c.served {
		require.NoError(c.t, c.server.Unregister(widgetsV1.GroupResource().WithVersion(version)))
		delete(c.served, version)
	}
}

func (c *cluster) create(version, name string) {
	c.t.Helper()
	w := &widget{}
	w.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Widget"})
	w.SetNamespace("default")
	w.SetName(name)
	require.NoError(c.t, c.server.Create(c.t.Context(), w))
}

// dynamically returns a source of widgets in version v1, with transports around the client's.
func (c *cluster) dynamically(wrap ...transport.WrapperFunc) reflector.Source {
	config := c.config()
	for _, w := range wrap {
		config.Wrap(w)
	}
	return reflector.FromDynamic(dynamic.NewForConfigOrDie(config), widgetsV1, "")
}

// watcher is a running informer that records the changes of its handler.
type watcher[T informer.Object] struct {
	*informer.Informer[T]
	t *testing.T

	mu       sync.Mutex
	recorded []string
}

// run starts an informer, which runs until the test ends.
func run[T informer.Object](t *testing.T, source reflector.Source) *watcher[T] {
	t.Helper()
	w := &watcher[T]{Informer: informer.New[T](source, informer.Options[T]{Name: "widgets"}), t: t}
	_, err := w.Informer.Handle(w, informer.HandlerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	wait, err := w.Start(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { cancel(); require.NoError(t, wait()) })
	return w
}

func (w *watcher[T]) Handle(c informer.Change[T]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	obj := c.New
	if c.Kind == informer.Deleted {
		obj = c.Old
	}
	w.recorded = append(w.recorded, fmt.Sprint(c.Kind, " ", obj.GetName()))
}

// tells returns the changes since the previous call, including all that come without a further
// delay.
func (w *watcher[T]) tells() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	recorded := strings.Join(w.recorded, ", ")
	w.recorded = nil
	return recorded
}

// requireWaits requires that the informer waits for a resource that the server does not serve.
func (w *watcher[T]) requireWaits() {
	w.t.Helper()
	status := w.Status()
	require.NotZero(w.t, status.NotServedSince)
	require.ErrorIs(w.t, status.LastError, reflector.ErrNotServed)
	require.True(w.t, apierrors.IsNotFound(status.LastError), "what the server said is wrapped")
	require.False(w.t, status.Watching)
}

// requireUp requires that the informer is watching.
func (w *watcher[T]) requireUp() {
	w.t.Helper()
	synctest.Wait()
	status := w.Status()
	require.True(w.t, status.Watching, "%+v", status)
	require.Zero(w.t, status.NotServedSince)
}

// An informer that has stopped waits for nothing.
func TestAStoppedInformerDoesNotWaitForItsResource(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		i := informer.New[*widget](c.dynamically(), informer.Options[*widget]{Name: "widgets"})
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.NotZero(t, i.Status().NotServedSince)
		cancel()
		require.NoError(t, wait())
		require.Zero(t, i.Status().NotServedSince)
		require.ErrorIs(t, i.Status().LastError, reflector.ErrNotServed)
	})
}

func TestContract_D32_ResourceIsWaitedFor(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		w := run[*widget](t, c.dynamically())
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		err := w.WaitSynced(ctx)
		cancel()
		require.ErrorIs(t, err, informer.ErrNotSynced)
		require.ErrorIs(t, err, reflector.ErrNotServed)
		w.requireWaits()
		require.Equal(t, c.start, w.Status().NotServedSince)
		require.Less(t, c.requests(""), mostInAnHour)
		require.Equal(t, c.requests(""), c.requests("/apis/example.com/v1/widgets"), "nothing else is asked for")

		c.define("v1")
		c.create("v1", "a")
		time.Sleep(backWithin)
		w.requireUp()
		require.NoError(t, w.WaitSynced(t.Context()))
		require.Equal(t, "added a", w.tells())
		require.Empty(t, w.Status().Notes, "streams are requested again")
	})
}

// backWithin is the longest time after which the informer is back when the server serves its resource
// again: the longest pause between two lists. In an hour it sends fewer than mostInAnHour requests.
const (
	backWithin   = 15 * time.Second
	mostInAnHour = 10 + int(time.Hour/(10*time.Second))
)

// D32: the objects of a removed resource stay until a list succeeds.
func TestContract_D32_ResourceIsTakenAwayAndComesBack(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.define("v1")
		w := run[*widget](t, c.dynamically())
		for _, name := range []string{"a", "b"} {
			c.create("v1", name)
			time.Sleep(time.Second)
			require.Equal(t, "added "+name, w.tells())

			resume := c.server.Stall(informertest.Request{Resource: "widgets"}) // the delete is not seen
			c.undefine()
			c.server.CutWatches()
			resume()
			time.Sleep(time.Hour)
			require.Empty(t, w.tells())
			w.requireWaits()
			require.Equal(t, 1, w.Status().Objects)

			c.define("v1")
			time.Sleep(backWithin)
			w.requireUp()
			require.Equal(t, "deleted "+name, w.tells())
		}
	})
}

func TestContract_D32_A404DeletesNothing(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.define("v1")
		c.create("v1", "a")
		w := run[*widget](t, c.dynamically())
		require.Equal(t, "added a", w.tells())
		undo := c.server.Intercept(func(_ context.Context, r informertest.Request) error {
			if r.Resource == "widgets" {
				return apierrors.NewNotFound(widgetsV1.GroupResource(), "")
			}
			return nil
		})
		c.server.CutWatches()
		time.Sleep(time.Hour)
		require.Empty(t, w.tells())
		require.Equal(t, 1, w.Status().Objects)
		w.requireWaits()
		require.Less(t, c.requests(""), mostInAnHour)
		undo()
		time.Sleep(backWithin)
		w.requireUp()
		require.Empty(t, w.tells())
	})
}

// A watch that is accepted and then fails with a 404 event is no proof that the resource is served:
// its repetition backs off.
func TestA404WithinAWatchIsNoStorm(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.define("v1")
		config := c.config()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				answer, err := next.RoundTrip(r)
				query := r.URL.Query()
				if err != nil || !strings.HasSuffix(r.URL.Path, "/widgets") || query.Get("watch") == "" || query.Get("sendInitialEvents") != "" {
					return answer, err
				}
				_ = answer.Body.Close()
				answer.Body = io.NopCloser(strings.NewReader(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}}`))
				return answer, nil
			})
		})
		source := reflector.FromDynamic(dynamic.NewForConfigOrDie(config), widgetsV1, "")
		source.Streams = reflector.StreamingUnsupported
		run[*widget](t, source)
		time.Sleep(time.Minute)
		require.Less(t, c.requests(""), 200)
	})
}

func TestOtherClientsWaitToo(t *testing.T) {
	for name, source := range map[string]func(*cluster) reflector.Source{
		"dynamic, wired": func(c *cluster) reflector.Source {
			config := c.config()
			config.Wrap(reflector.Wire)
			return reflector.FromDynamic(dynamic.NewForConfigOrDie(config), widgetsV1, "default")
		},
		"tweaked": func(c *cluster) reflector.Source {
			source := c.dynamically()
			source.Tweak = func(o *metav1.ListOptions) { o.LabelSelector = "a!=b" }
			return source
		},
		"a client alone": func(c *cluster) reflector.Source {
			return reflector.From(dynamic.NewForConfigOrDie(c.config()).Resource(widgetsV1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) { waitsAndComesUp(t, c, run[*widget](t, source(c))) })
		})
	}
	for name, wired := range map[string]bool{"metadata": false, "metadata, wired": true} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				config := c.config()
				if wired {
					config.Wrap(reflector.Wire)
				}
				source := reflector.FromMetadata(metadata.NewForConfigOrDie(config), widgetsV1, "")
				waitsAndComesUp(t, c, run[*metav1.PartialObjectMetadata](t, source))
			})
		})
	}
}

func waitsAndComesUp[T informer.Object](t *testing.T, c *cluster, w *watcher[T]) {
	t.Helper()
	time.Sleep(10 * time.Minute)
	w.requireWaits()
	c.define("v1")
	c.create("v1", "a")
	time.Sleep(backWithin)
	w.requireUp()
	require.Equal(t, "added a", w.tells())
	c.undefine() // the server deletes the objects first
	time.Sleep(backWithin)
	require.Equal(t, "deleted a", w.tells())
	w.requireWaits()
}

// D32: a fake that answers with 404 is waited for as well.
func TestContract_D32_AFakeIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{widgetsV1: "WidgetList"})
		client.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewNotFound(widgetsV1.GroupResource(), "")
		})
		w := run[*widget](t, reflector.FromDynamic(client, widgetsV1, ""))
		time.Sleep(time.Hour)
		w.requireWaits()
		require.Less(t, len(client.Actions()), mostInAnHour)
	})
}

// An informer also waits for a built-in kind that an old server lacks.
func TestTypedClientsWait(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		nodes := schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
		require.NoError(t, c.server.Unregister(nodes))
		client := kubernetes.NewForConfigOrDie(c.config())
		w := run[*corev1.Node](t, reflector.FromGenerated[*corev1.Node](client.CoreV1().Nodes(), nodes))
		time.Sleep(time.Minute)
		w.requireWaits()
		require.NoError(t, c.server.Register(informertest.Kind{GVR: nodes, GVK: schema.GroupVersionKind{Version: "v1", Kind: "Node"}}))
		time.Sleep(backWithin)
		w.requireUp()
		require.NoError(t, w.WaitSynced(t.Context()))
	})
}
