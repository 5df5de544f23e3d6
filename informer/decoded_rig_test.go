package informer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
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
	stop = rig.Launch(t, i)
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

var _ json.Unmarshaler = (*byteKeeper)(nil)
