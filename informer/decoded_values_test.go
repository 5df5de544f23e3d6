package informer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// Gadget is a custom resource whose fields are of all the types that a decoder may share wrongly.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              gadgetSpec `json:"spec"`
}

type gadgetSpec struct {
	Memo      *memo                 `json:"memo,omitempty"`
	Memos     []memo                `json:"memos,omitempty"`
	Hooks     []hook                `json:"hooks,omitempty"`
	Template  *gadgetTemplate       `json:"template,omitempty"`
	Templates []gadgetTemplate      `json:"templates,omitempty"`
	Config    *config               `json:"config,omitempty"`
	Selector  *selector             `json:"selector,omitempty"`
	Keeper    *byteKeeper           `json:"keeper,omitempty"`
	Looker    *looker               `json:"looker,omitempty"`
	Plain     map[string]string     `json:"plain,omitempty"`
	Parts     map[string]gadgetPart `json:"parts,omitempty"`
	Limits    corev1.ResourceList   `json:"limits,omitempty"`
}

// memo remembers the answer of its method.
type memo struct {
	Pattern string  `json:"pattern"`
	Answer  *string `json:"-"`
}

type hook struct {
	Name   string                `json:"name"`
	Config kruntime.RawExtension `json:"config"`
}

// gadgetTemplate has a metadata of its own type, as Cluster API's templates have.
type gadgetTemplate struct {
	Metadata templateMeta      `json:"metadata"`
	Spec     map[string]string `json:"spec"`
}

type templateMeta struct {
	Labels map[string]string `json:"labels,omitempty"`
}

type config struct {
	Data configData `json:"data"`
}

type configData struct {
	Values map[string]string `json:"values,omitempty"`
	Order  []string          `json:"order,omitempty"`
}

type selector struct {
	NodeSelector *map[string]string `json:"nodeSelector,omitempty"`
}

// gadgetPart is an element of a map.
type gadgetPart struct {
	Name   string `json:"name,omitempty"`
	Secret string `json:"secret,omitempty"`
}

// byteKeeper keeps the bytes that it is decoded from, though encoding/json says not to.
type byteKeeper struct {
	Bytes []byte `json:"-"`
}

func (k *byteKeeper) UnmarshalJSON(b []byte) error {
	k.Bytes = b
	return nil
}

// looker decodes itself by a function of the program.
type looker struct{}

var look atomic.Pointer[func()]

func (*looker) UnmarshalJSON([]byte) error {
	if f := look.Load(); f != nil {
		(*f)()
	}
	return nil
}

func (g *Gadget) DeepCopyObject() kruntime.Object {
	c := *g
	c.Spec.Parts = maps.Clone(g.Spec.Parts)
	c.Spec.Plain = maps.Clone(g.Spec.Plain)
	return &c
}

// gadgetList is the list of the client, which nobody calls.
type gadgetList struct {
	metav1.TypeMeta
	metav1.ListMeta
}

func (l *gadgetList) DeepCopyObject() kruntime.Object { return l }

// gadgets is the generated client of the resource.
type gadgets struct{ client *rest.RESTClient }

func (g gadgets) GetClient() rest.Interface { return g.client }
func (gadgets) GetNamespace() string        { return "" }

func (gadgets) List(context.Context, metav1.ListOptions) (*gadgetList, error) {
	return nil, fmt.Errorf("the reflector sends the requests")
}

func (gadgets) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, fmt.Errorf("the reflector sends the requests")
}

// gadgetsLike returns an informer of so many gadgets with a spec, in which # stands for their number. It
// has a full state.
func gadgetsLike(t *testing.T, count int, spec string, o informer.Options[*Gadget]) *informer.Informer[*Gadget] {
	t.Helper()
	return gadgetsOf(t, count, spec, o, func(*informer.Informer[*Gadget]) {})
}

// gadgetsOf is gadgetsLike, and calls a function with the informer before the informer is started.
func gadgetsOf(t *testing.T, count int, spec string, o informer.Options[*Gadget], made func(*informer.Informer[*Gadget])) *informer.Informer[*Gadget] {
	t.Helper()
	var items []string
	for n := range count {
		items = append(items, fmt.Sprintf(`{"metadata":{"name":"g%d","uid":"u%d","resourceVersion":"%d"},"spec":%s}`, n, n, n+1, strings.ReplaceAll(spec, "#", fmt.Sprint(n))))
	}
	body := `{"kind":"GadgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"100"},"items":[` + strings.Join(items, ",") + `]}`
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	client, err := rest.RESTClientFor(&rest.Config{
		Host: "http://server", Transport: lists(body), QPS: -1, APIPath: "/apis",
		ContentConfig: rest.ContentConfig{GroupVersion: &version, NegotiatedSerializer: scheme.Codecs.WithoutConversion()},
	})
	require.NoError(t, err)
	o.Observe = rig.Observed
	i := informer.New(reflector.FromCustomResource[*Gadget](gadgets{client}, version.WithResource("gadgets")), o)
	made(i)
	rig.Start(t, i)
	require.NoError(t, i.WaitSynced(t.Context()))
	require.Equal(t, count, i.Indexer().Len())
	return i
}

// open answers a watch with a text, and more that may come until the request ends.
func open(r *http.Request, text string, more ...<-chan string) *http.Response {
	body, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, text) // the request may have ended
		for _, events := range more {
			for {
				select {
				case e := <-events:
					_, _ = io.WriteString(w, e)
					continue
				case <-r.Context().Done():
				}
				break
			}
		}
		<-r.Context().Done()
		_ = w.CloseWithError(context.Cause(r.Context()))
	}()
	answer := says(200, "")
	answer.Body = body
	return answer
}

// runs runs an informer until the test ends, and waits for its first full state.
func runs[T informer.Object](t *testing.T, i *informer.Informer[T]) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	require.NoError(t, i.WaitSynced(t.Context()))
	return stop
}

// lists answers each list with a body, and opens watches that bring nothing.
func lists(body string) *answers {
	return &answers{answer: func(r *http.Request) *http.Response {
		switch q := r.URL.Query(); {
		case q.Get("sendInitialEvents") != "":
			return says(400, "")
		case q.Get("watch") != "":
			return open(r, "")
		}
		return says(200, body)
	}}
}

func gadget[T informer.Object](t *testing.T, i *informer.Informer[T], name string) T {
	t.Helper()
	obj, ok := i.Indexer().Get(indexer.Key{Name: name})
	require.True(t, ok, name)
	return obj
}

// What a program changes in one object is not seen in another one, in all places that the contract
// names, without a transform and with one.
func TestContract_D29_WhatProgramsWriteIntoIsNotShared(t *testing.T) {
	const spec = `{"memo":{"pattern":"a*"},"memos":[{"pattern":"b*"}],"hooks":[{"name":"h","config":{"a":1}}],` +
		`"template":{"metadata":{"labels":{"app":"web"}},"spec":{"a":"b"}},"templates":[{"metadata":{"labels":{"app":"web"}},"spec":{"a":"b"}}],` +
		`"config":{"data":{"values":{"a":"b"},"order":["a"]}},"selector":{"nodeSelector":{"disk":"fast"}},"plain":{"a":"b"}}`
	writes := map[string]struct {
		write func(g *Gadget)
		read  func(g *Gadget) any
	}{
		"a field that JSON does not reach, behind a pointer": {
			func(g *Gadget) { g.Spec.Memo.Answer = &g.Name }, func(g *Gadget) any { return g.Spec.Memo.Answer }},
		"a field that JSON does not reach, in a list": {
			func(g *Gadget) { g.Spec.Memos[0].Answer = &g.Name }, func(g *Gadget) any { return g.Spec.Memos[0].Answer }},
		"metadata of another type": {
			func(g *Gadget) { g.Spec.Template.Metadata.Labels["app"] = g.Name }, func(g *Gadget) any { return g.Spec.Template.Metadata.Labels["app"] }},
		"metadata of another type, made anew": {
			func(g *Gadget) { g.Spec.Template.Metadata.Labels = map[string]string{} }, func(g *Gadget) any { return g.Spec.Template.Metadata.Labels }},
		"metadata of another type, in a list": {
			func(g *Gadget) { g.Spec.Templates[0].Metadata.Labels["app"] = g.Name }, func(g *Gadget) any { return g.Spec.Templates[0].Metadata.Labels["app"] }},
		"a map in a struct named data": {
			func(g *Gadget) { g.Spec.Config.Data.Values["a"] = g.Name }, func(g *Gadget) any { return g.Spec.Config.Data.Values["a"] }},
		"a slice in a struct named data": {
			func(g *Gadget) { g.Spec.Config.Data.Order[0] = g.Name }, func(g *Gadget) any { return g.Spec.Config.Data.Order[0] }},
		"a node selector behind a pointer": {
			func(g *Gadget) { (*g.Spec.Selector.NodeSelector)["disk"] = g.Name }, func(g *Gadget) any { return (*g.Spec.Selector.NodeSelector)["disk"] }},
	}
	for name, o := range map[string]informer.Options[*Gadget]{
		"decoded":     {},
		"transformed": {Transform: func(g *Gadget) (*Gadget, error) { return g, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := gadgetsLike(t, 40, spec, o)
				for what, w := range writes {
					for n := range 39 {
						before := w.read(gadget(t, i, fmt.Sprint("g", n+1)))
						w.write(gadget(t, i, fmt.Sprint("g", n)))
						if !assert.Equal(t, before, w.read(gadget(t, i, fmt.Sprint("g", n+1))), what) {
							break
						}
					}
				}
				same := 0
				for n := range 39 {
					a, b := gadget(t, i, fmt.Sprint("g", n)), gadget(t, i, fmt.Sprint("g", n+1))
					if mapAt(a.Spec.Plain) == mapAt(b.Spec.Plain) {
						same++
					}
				}
				require.Greater(t, same, 30, "other values are shared")
			})
		})
	}
}

func mapAt(m map[string]string) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// A shared Quantity equals one that is not shared, however the server spells it: a handler that compares two
// objects sees no change.
func TestContract_D29_QuantitiesThatAreShared(t *testing.T) {
	const limits = `{"cpu":"0.5","memory":"2048Mi","disk":"128Mi","pods":"1000"}`
	var want corev1.ResourceList
	require.NoError(t, json.Unmarshal([]byte(limits), &want))
	synctest.Test(t, func(t *testing.T) {
		i := gadgetsLike(t, 40, `{"limits":`+limits+`}`, informer.Options[*Gadget]{})
		for n := range 40 {
			require.Equal(t, want, gadget(t, i, fmt.Sprint("g", n)).Spec.Limits)
		}
		require.NotZero(t, i.Status().Totals.Shared)
	})
}

// Two programs that append to shared bytes each get a copy: shared slices have no room.
func TestSharedBytesHaveNoRoom(t *testing.T) {
	const spec = `{"hooks":[{"name":"h","config":{"long":"enough for some room behind it"}}]}`
	synctest.Test(t, func(t *testing.T) {
		i := gadgetsLike(t, 10, spec, informer.Options[*Gadget]{})
		var raws [][]byte
		for n := range 10 {
			raw := gadget(t, i, fmt.Sprint("g", n)).Spec.Hooks[0].Config.Raw
			raws = append(raws, append(raw, byte('0'+n)))
		}
		for n, raw := range raws {
			require.Equal(t, string(rune('0'+n)), string(raw[len(raw)-1:]))
		}
	})
}

// A type may keep the bytes from which it is decoded.
func TestTypesMayKeepTheirBytes(t *testing.T) {
	for _, odd := range []string{"", `"plain":{"a":"b"},"plain":{"c":"d"},`} {
		synctest.Test(t, func(t *testing.T) {
			i := gadgetsLike(t, 2000, `{`+odd+`"keeper":{"kept":"by object #"}}`, informer.Options[*Gadget]{})
			for n := range 2000 {
				require.JSONEq(t, fmt.Sprintf(`{"kept":"by object %d"}`, n), string(gadget(t, i, fmt.Sprint("g", n)).Spec.Keeper.Bytes))
			}
		})
	}
}

// A type that decodes itself may look at the informer: its method is not called under the lock of the
// shared values.
func TestTypesThatDecodeThemselvesMayLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looked := 0
		var i *informer.Informer[*Gadget]
		gadgetsOf(t, 10, `{"looker":{},"plain":{"a":"b"}}`, informer.Options[*Gadget]{}, func(made *informer.Informer[*Gadget]) {
			i = made
			at := func() {
				looked++
				i.Status()
				i.Inspector().Memory()
				i.Inspector().Decoding()
			}
			look.Store(&at)
			t.Cleanup(func() { look.Store(nil) })
		})
		require.GreaterOrEqual(t, looked, 10)
		require.NotZero(t, i.Status().Totals.Shared)
	})
}

// What a transform writes into an object is in that object alone, also where the object would share a value
// with others; and the objects that it leaves as they are still share it.
func TestContract_D29_WhatATransformWritesIntoIsNotShared(t *testing.T) {
	const spec = `{"plain":{"a":"b"},"hooks":[{"name":"h","config":{"a":1}}]}`
	synctest.Test(t, func(t *testing.T) {
		i := gadgetsLike(t, 60, spec, informer.Options[*Gadget]{Transform: func(g *Gadget) (*Gadget, error) {
			switch number := g.UID[1:]; number[len(number)-1] {
			case '1':
				g.Spec.Plain["a"] = g.Name
			case '2':
				delete(g.Spec.Plain, "a")
			case '3':
				g.Spec.Hooks[0].Name = g.Name
			case '4':
				g.Spec.Hooks[0].Config.Raw[5] = '2' // {"a":2}
			case '5':
				g.Spec.Hooks = g.Spec.Hooks[:0]
			}
			return g, nil
		}})
		var unchanged []*Gadget
		for n := range 60 {
			g := gadget(t, i, fmt.Sprint("g", n))
			plain, name, raw := map[string]string{"a": "b"}, "h", `{"a":1}`
			switch n % 10 {
			case 1:
				plain["a"] = g.Name
			case 2:
				delete(plain, "a")
			case 3:
				name = g.Name
			case 4:
				raw = `{"a":2}`
			case 5:
				require.Empty(t, g.Spec.Hooks, g.Name)
				g.Spec.Hooks = []hook{{Name: name, Config: kruntime.RawExtension{Raw: []byte(raw)}}}
			default:
				unchanged = append(unchanged, g)
			}
			require.Equal(t, plain, g.Spec.Plain, g.Name)
			require.Equal(t, name, g.Spec.Hooks[0].Name, g.Name)
			require.Equal(t, raw, string(g.Spec.Hooks[0].Config.Raw), g.Name)
		}
		a, b := unchanged[len(unchanged)-2].Spec, unchanged[len(unchanged)-1].Spec
		require.Equal(t, mapAt(a.Plain), mapAt(b.Plain))
		require.Same(t, unsafe.SliceData(a.Hooks), unsafe.SliceData(b.Hooks))
	})
}

// A transform may hand its object on, to somebody who only reads it: the object is not written into
// after the transform has returned.
func TestWhatATransformHandsOnStaysAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type seen struct {
			obj   *Gadget
			plain unsafe.Pointer
			hooks *hook
		}
		var all []seen
		i := gadgetsLike(t, 20, `{"plain":{"a":"b"},"hooks":[{"name":"h","config":{"a":1}}]}`, informer.Options[*Gadget]{
			Transform: func(g *Gadget) (*Gadget, error) {
				all = append(all, seen{g, mapAt(g.Spec.Plain), unsafe.SliceData(g.Spec.Hooks)})
				go func() { _ = len(g.Spec.Plain) + len(g.Spec.Hooks) }() // the race detector looks on
				return g, nil
			},
		})
		require.Len(t, all, 20)
		shared := 0
		for n, s := range all {
			require.Equal(t, s.plain, mapAt(s.obj.Spec.Plain), n)
			require.Same(t, s.hooks, unsafe.SliceData(s.obj.Spec.Hooks), n)
			if mapAt(gadget(t, i, s.obj.Name).Spec.Plain) != s.plain {
				shared++
			}
		}
		require.Greater(t, shared, 10, "the stored objects share")
	})
}

func TestWhatATransformHandsOnStaysAsItIsUntyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []*unstructured.Unstructured
		var roots []unsafe.Pointer
		client := wiredDynamic(t, lists(untypedList("Gadget", 20, `"spec":{"plain":{"a":"b"}}`)))
		i := informer.New(reflector.FromDynamic(client, schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}, ""), informer.Options[*unstructured.Unstructured]{
			Observe: rig.Observed,
			Transform: func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				all, roots = append(all, u), append(roots, anyMapAt(u.Object))
				go func() { _ = len(u.Object) }()
				return u, nil
			},
		})
		rig.Start(t, i)
		require.NoError(t, i.WaitSynced(t.Context()))
		require.Len(t, all, 20)
		for n, u := range all {
			require.Equal(t, roots[n], anyMapAt(u.Object), n)
		}
	})
}

func anyMapAt(m map[string]any) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// wiredDynamic returns a dynamic client whose answers the reflector decodes.
func wiredDynamic(t *testing.T, transport http.RoundTripper) dynamic.Interface {
	t.Helper()
	config := &rest.Config{Host: "http://server", Transport: transport, QPS: -1}
	config.Wrap(reflector.Wire)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// untypedList returns a list of so many objects of a kind, with the same content.
func untypedList(kind string, count int, content string) string {
	var items []string
	for n := range count {
		items = append(items, fmt.Sprintf(`{"metadata":{"name":"g%d","uid":"u%d","resourceVersion":"%d"},%s}`, n, n, n+1, content))
	}
	return fmt.Sprintf(`{"kind":"%sList","apiVersion":"v1","metadata":{"resourceVersion":"100"},"items":[%s]}`, kind, strings.Join(items, ","))
}

// A string of data that a transform has removed is not kept in memory by the informer, nor are a
// deleted Secret's strings, whatever they are.
func TestRemovedSecretsAreForgotten(t *testing.T) {
	const content = `"data":{"password":"a password of some length"},"stringData":{"nested":[{"password":"another password of some length"}]}`
	for what, of := range map[string]struct{ kind, resource string }{
		"Secrets":     {"Secret", "secrets"},
		"ConfigMaps":  {"ConfigMap", "configmaps"},
		"other kinds": {"Gadget", "gadgets"},
	} {
		t.Run(what, func(t *testing.T) {
			gone := make(chan string, 1000)
			seen := 0
			transform := func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				data, _, _ := unstructured.NestedString(u.Object, "data", "password")
				nested := u.Object["stringData"].(map[string]any)["nested"].([]any)[0].(map[string]any)["password"].(string)
				for _, s := range []string{data, nested} {
					seen++
					runtime.AddCleanup(unsafe.StringData(s), func(s string) { gone <- s }, strings.Clone(s))
				}
				delete(u.Object, "data")
				delete(u.Object, "stringData")
				return u, nil
			}
			client := wiredDynamic(t, lists(untypedList(of.kind, 20, content)))
			i := informer.New(reflector.FromDynamic(client, schema.GroupVersionResource{Version: "v1", Resource: of.resource}, ""),
				informer.Options[*unstructured.Unstructured]{Observe: rig.Observed, Transform: transform})
			runs(t, i)
			requireGone(t, gone, seen)
			require.Equal(t, 20, i.Indexer().Len())
		})
	}
}

func TestDeletedSecretsAreForgotten(t *testing.T) {
	content := `"type":"example.com/some-type-of-secret","data":{"password":"YSBwYXNzd29yZCBvZiBzb21lIGxlbmd0aA=="}`
	list := strings.ReplaceAll(untypedList("Secret", 20, content), `"metadata":{"name"`, `"metadata":{"annotations":{"last-applied":"with a password in it"},"name"`)
	deletions := make(chan string, 20)
	transport := &answers{}
	transport.answer = func(r *http.Request) *http.Response {
		switch q := r.URL.Query(); {
		case q.Get("sendInitialEvents") != "":
			return says(400, "")
		case q.Get("watch") != "":
			return open(r, "", deletions)
		}
		return says(200, list)
	}
	remove := func() {
		for n := range 20 {
			deletions <- fmt.Sprintf(`{"type":"DELETED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"g%d","uid":"u%d","resourceVersion":"%d"},"data":{}}}`+"\n", n, n, 200+n)
		}
	}
	t.Run("untyped", func(t *testing.T) {
		i := informer.New(reflector.FromDynamic(wiredDynamic(t, transport), schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, ""), informer.Options[*unstructured.Unstructured]{Observe: rig.Observed})
		stop := runs(t, i)
		defer stop()
		gone, seen := make(chan string, 1000), 0
		for u := range i.Indexer().All() {
			for _, path := range [][]string{{"type"}, {"data", "password"}, {"metadata", "annotations", "last-applied"}} {
				s, _, _ := unstructured.NestedString(u.Object, path...)
				require.NotEmpty(t, s, path)
				seen++
				runtime.AddCleanup(unsafe.StringData(s), func(s string) { gone <- s }, strings.Clone(s))
			}
		}
		remove()
		require.NoError(t, i.WaitDelivered(t.Context(), "219"))
		requireGone(t, gone, seen)
	})
	t.Run("typed", func(t *testing.T) {
		client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://server", Transport: transport, QPS: -1})
		require.NoError(t, err)
		i := informer.New(reflector.FromGenerated[*corev1.Secret](client.CoreV1().Secrets(""), corev1.SchemeGroupVersion.WithResource("secrets")), informer.Options[*corev1.Secret]{Observe: rig.Observed})
		stop := runs(t, i)
		defer stop()
		gone, seen := make(chan string, 1000), 0
		for secret := range i.Indexer().All() {
			for _, s := range []string{string(secret.Type), secret.Annotations["last-applied"]} {
				seen++
				runtime.AddCleanup(unsafe.StringData(s), func(s string) { gone <- s }, strings.Clone(s))
			}
		}
		remove()
		require.NoError(t, i.WaitDelivered(t.Context(), "219"))
		requireGone(t, gone, seen)
	})
}

// requireGone waits until the garbage collector has freed so many strings.
func requireGone(t *testing.T, gone <-chan string, count int) {
	t.Helper()
	require.NotZero(t, count)
	freed := 0
	require.Eventually(t, func() bool {
		runtime.GC()
		for ; len(gone) > 0; freed++ {
			<-gone
		}
		return freed == count
	}, 10*time.Second, time.Millisecond, "strings are still in memory")
}

// The events behind one whose brackets do not match are not lost with it.
func TestBracketsThatDoNotMatchSwallowNothing(t *testing.T) {
	for _, event := range []string{`{"type":"MODIFIED","object":[[}}`, `{"type":"MODIFIED","object":{"a":[}]}}`, `{"x":{"a":{]}}}`} {
		synctest.Test(t, func(t *testing.T) {
			transport := &answers{}
			listed := 0
			transport.answer = func(r *http.Request) *http.Response {
				switch q := r.URL.Query(); {
				case q.Get("sendInitialEvents") != "":
					return says(400, "")
				case q.Get("watch") == "":
					listed++
					return says(200, untypedList("Gadget", listed, `"spec":{}`))
				case listed == 1:
					return open(r, event+"\n")
				}
				return open(r, "")
			}
			i := informer.New(reflector.FromDynamic(wiredDynamic(t, transport), schema.GroupVersionResource{Version: "v1", Resource: "gadgets"}, ""), informer.Options[*unstructured.Unstructured]{Observe: rig.Observed})
			rig.Start(t, i)
			require.NoError(t, i.WaitSynced(t.Context()))
			time.Sleep(time.Minute) // the watch would last five
			require.Equal(t, 2, i.Indexer().Len())
			require.NotZero(t, i.Status().Errors)
		})
	}
}

// gadgetFake is a source whose client decodes, such as a fake clientset.
type gadgetFake struct{ list *gadgetItems }

type gadgetItems struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Gadget
}

func (l *gadgetItems) DeepCopyObject() kruntime.Object { return l }

func (f gadgetFake) List(context.Context, metav1.ListOptions) (kruntime.Object, error) {
	return f.list, nil
}

func (gadgetFake) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

// Dropped fields are missing whoever decodes the objects, also behind the keys of maps.
func TestDroppedFieldsBehindTheKeysOfMaps(t *testing.T) {
	const spec = `{"parts":{"a":{"name":"n","secret":"s"},"b":{"name":"n","secret":"s"}},"plain":{"token":"t","other":"o"}}`
	wanted := gadgetSpec{Parts: map[string]gadgetPart{"a": {Name: "n"}, "b": {"n", "s"}}, Plain: map[string]string{"other": "o"}}
	o := informer.Options[*Gadget]{Observe: rig.Observed, Decoding: reflector.Decoding{Drop: []string{"spec.parts.a.secret", "spec.plain.token"}}}
	t.Run("by the reflector", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			i := gadgetsLike(t, 5, spec, o)
			for g := range i.Indexer().All() {
				require.Equal(t, wanted, g.Spec)
			}
		})
	})
	t.Run("by a fake", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := Gadget{ObjectMeta: metav1.ObjectMeta{Name: "g", ResourceVersion: "1"}}
			require.NoError(t, json.Unmarshal([]byte(spec), &g.Spec))
			i := informer.New(rig.SourceOf(gadgetFake{&gadgetItems{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []Gadget{g}}}), o)
			rig.Start(t, i)
			require.NoError(t, i.WaitSynced(t.Context()))
			require.Equal(t, wanted, gadget(t, i, "g").Spec)
			require.Len(t, g.Spec.Plain, 2, "the fake's object stays as it is")
		})
	})
}

var _ json.Unmarshaler = (*byteKeeper)(nil)
