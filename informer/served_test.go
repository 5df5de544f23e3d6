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
	"github.com/tidemark-k8s/tidemark/internal/around"
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

	mu   sync.Mutex
	told []string
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
	w.told = append(w.told, fmt.Sprint(c.Kind, " ", obj.GetName()))
}

// tells returns the changes since the previous call, including all that come without a further
// delay.
func (w *watcher[T]) tells() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	told := strings.Join(w.told, ", ")
	w.told = nil
	return told
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
		require.LessOrEqual(t, c.requests("/widgets"), 2, "the resource itself is asked for once, or by a stream and a list")
		require.Less(t, c.requests(""), 2+2*int(time.Hour/(10*time.Second)), "a group that lacks is two requests; there is no storm meanwhile")

		c.define("v1")
		c.create("v1", "a")
		time.Sleep(backWithin)
		w.requireUp()
		require.NoError(t, w.WaitSynced(t.Context()))
		require.Equal(t, "added a", w.tells())
		require.LessOrEqual(t, c.requests("/widgets"), 2+3)
	})
}

// The informer is back within backWithin after discovery shows its resource. It has told the deletion of
// a removed one after removedWithin.
const (
	backWithin    = 15 * time.Second
	removedWithin = time.Minute
)

func TestContract_D32_DiscoveryIsNotAskedBeforeA404(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.define("v1")
		c.create("v1", "a")
		w := run[*widget](t, c.dynamically())
		undo := c.server.Forbid(informertest.Request{})
		time.Sleep(time.Minute)
		undo()
		c.server.CutWatches()
		time.Sleep(time.Hour)
		w.requireUp()
		require.Equal(t, c.requests(""), c.requests("/apis/example.com/v1/widgets"))
	})
}

func TestContract_D32_ResourceIsTakenAwayAndComesBack(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.define("v1")
		w := run[*widget](t, c.dynamically())
		for _, name := range []string{"a", "b"} {
			c.create("v1", name)
			time.Sleep(time.Second)
			require.Equal(t, "added "+name, w.tells())

			// The watch is stalled, so the informer gets no delete.
			resume := c.server.Stall(informertest.Request{Resource: "widgets"})
			c.undefine()
			undo := c.server.Intercept(func(_ context.Context, r informertest.Request) error {
				if r.Resource == "widgets" {
					return apierrors.NewNotFound(widgetsV1.GroupResource(), "")
				}
				return nil
			})
			c.server.CutWatches()
			resume()
			time.Sleep(10 * time.Second)
			require.Empty(t, w.tells(), "nothing is proved yet")
			time.Sleep(removedWithin)
			require.Equal(t, "deleted "+name, w.tells())
			w.requireWaits()
			require.Zero(t, w.Status().Objects)
			time.Sleep(time.Hour)
			undo()

			c.define("v1")
			time.Sleep(backWithin)
			w.requireUp()
			require.Empty(t, w.tells())
		}
	})
}

// D32: after a 404 the informer keeps its objects as long as discovery has the resource, or fails.
func TestContract_D32_A404DeletesNothing(t *testing.T) {
	for name, code := range map[string]int{"while discovery has it": 0, "while discovery is forbidden": http.StatusForbidden, "while discovery fails": http.StatusServiceUnavailable} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.define("v1")
				c.create("v1", "a")
				discovery := &discoveryFails{code: code}
				w := run[*widget](t, c.dynamically(discovery.wrap))
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
				require.Less(t, c.requests("/widgets"), 2+2*int(time.Hour/(10*time.Second)), "a stream and a list after each pause")
				require.Less(t, c.requests(""), 4+4*int(time.Hour/(10*time.Second)), "there is no storm")
				undo()
				time.Sleep(2 * time.Minute)
				w.requireUp()
				require.Empty(t, w.tells())
			})
		})
	}
}

// discoveryFails answers all requests but those for widgets with a code, unless it is 0.
type discoveryFails struct{ code int }

func (d *discoveryFails) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if d.code == 0 || strings.Contains(r.URL.Path, "widgets") {
			return next.RoundTrip(r)
		}
		return &http.Response{
			StatusCode: d.code, Request: r, Header: http.Header{"Content-Type": {"text/plain"}},
			Body: io.NopCloser(strings.NewReader("no")),
		}, nil
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
		run[*widget](t, listOnly{reflector.FromDynamic(dynamic.NewForConfigOrDie(config), widgetsV1, "")})
		time.Sleep(time.Minute)
		require.Less(t, c.requests(""), 200)
	})
}

// listOnly is a source that declares that it cannot stream.
type listOnly struct{ reflector.Source }

func (l listOnly) Around() around.Source[reflector.Source] {
	return around.Source[reflector.Source]{Inner: l.Source, ListOnly: true}
}

// D32: if the server has the resource in other versions only, the error names them, and the objects stay.
func TestContract_D32_OtherVersionsAreNotTheResource(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.define("v1")
		c.create("v1", "a")
		w := run[*widget](t, c.dynamically())
		require.Equal(t, "added a", w.tells())
		resume := c.server.Stall(informertest.Request{Resource: "widgets"}) // the delete is not seen
		c.define("v2")
		c.server.CutWatches()
		resume()
		time.Sleep(time.Hour)
		w.requireWaits()
		require.ErrorContains(t, w.Status().LastError, "but in v2:")
		require.Empty(t, w.tells())
		require.Equal(t, 1, w.Status().Objects)
		require.Less(t, c.requests("/apis"), 10+4*int(time.Hour/(10*time.Second)), "the documents of the group and its versions, after each pause")
		c.define("v1", "v2")
		c.create("v1", "b")
		time.Sleep(backWithin)
		w.requireUp()
		require.Equal(t, "deleted a, added b", w.tells())
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
			return reflector.Tweak(c.dynamically(), func(o *metav1.ListOptions) { o.LabelSelector = "a!=b" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) { waitsAndComesUp(t, c, run[*widget](t, source(c))) })
		})
	}
	t.Run("metadata, wired", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			config := c.config()
			config.Wrap(reflector.Wire)
			source := reflector.FromMetadata(metadata.NewForConfigOrDie(config), widgetsV1, "")
			waitsAndComesUp(t, c, run[*metav1.PartialObjectMetadata](t, source))
		})
	})
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
	c.undefine()
	time.Sleep(removedWithin)
	require.Equal(t, "deleted a", w.tells())
	w.requireWaits()
}

// A metadata client without Wire cannot read discovery: its informer waits, with back-off, and hears of no
// removal.
func TestMetadataWithoutWire(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		w := run[*metav1.PartialObjectMetadata](t, reflector.FromMetadata(metadata.NewForConfigOrDie(c.config()), widgetsV1, ""))
		time.Sleep(10 * time.Minute)
		w.requireWaits()
		c.define("v1")
		c.create("v1", "a")
		time.Sleep(2 * time.Minute)
		w.requireUp()
		require.Equal(t, "added a", w.tells())
		resume := c.server.Stall(informertest.Request{Resource: "widgets"}) // the delete is not seen
		c.undefine()
		c.server.CutWatches()
		resume()
		time.Sleep(time.Hour)
		w.requireWaits()
		require.Empty(t, w.tells())
	})
}

// Without a client that can be asked about the resource, a 404 is an error like others.
func TestA404WithoutAClient(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		client := dynamic.NewForConfigOrDie(c.config())
		w := run[*widget](t, reflector.From(client.Resource(widgetsV1)))
		time.Sleep(time.Hour)
		require.Zero(t, w.Status().NotServedSince)
		require.NotErrorIs(t, w.Status().LastError, reflector.ErrNotServed)
		require.Equal(t, c.requests(""), c.requests("/widgets"))
		c.define("v1")
		time.Sleep(2 * time.Minute)
		w.requireUp()
	})
}

// If questions about the resource are forbidden, the informer still waits for the resource, with
// back-off.
func TestA404WithoutTheRightToAsk(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		w := run[*widget](t, c.dynamically((&discoveryFails{http.StatusForbidden}).wrap))
		time.Sleep(time.Hour)
		w.requireWaits()
		require.Less(t, c.requests(""), 600, "an hour of back-off")
		c.define("v1")
		time.Sleep(2 * time.Minute)
		w.requireUp()
	})
}

// D32: a fake client, which records all requests, is asked for the resource only.
func TestContract_D32_FakesAreAskedForNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{widgetsV1: "WidgetList"})
		client.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewNotFound(widgetsV1.GroupResource(), "")
		})
		w := run[*widget](t, reflector.FromDynamic(client, widgetsV1, ""))
		time.Sleep(time.Hour)
		require.Zero(t, w.Status().NotServedSince)
		for _, a := range client.Actions() {
			require.Equal(t, widgetsV1, a.GetResource())
		}
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
		time.Sleep(time.Minute)
		w.requireUp()
		require.NoError(t, w.WaitSynced(t.Context()))
	})
}
