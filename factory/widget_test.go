package factory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// This is a small handwritten copy of the package of a CRD: its types, and the code that
// client-gen, lister-gen and informer-gen generate.

type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Color             string `json:"color,omitempty"`
}

func (w *widget) DeepCopyObject() runtime.Object {
	twin := *w
	w.DeepCopyInto(&twin.ObjectMeta)
	return &twin
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []widget `json:"items"`
}

func (l *widgetList) DeepCopyObject() runtime.Object {
	twin := *l
	twin.Items = make([]widget, len(l.Items))
	for i := range l.Items {
		twin.Items[i] = *l.Items[i].DeepCopyObject().(*widget)
	}
	return &twin
}

var (
	widgetVersion  = schema.GroupVersion{Group: "example.com", Version: "v1"}
	widgetResource = widgetVersion.WithResource("widgets")
)

// widgetClient is the generated clientset, unknown to tidemark.
type widgetClient struct{ server *informertest.Server }

// newWidgetInformerFunc is NewInformerFunc of the generated internalinterfaces.
type newWidgetInformerFunc func(*widgetClient, time.Duration) cache.SharedIndexInformer

// widgetFactory is SharedInformerFactory of the generated internalinterfaces.
type widgetFactory interface {
	Start(stop <-chan struct{})
	InformerFor(obj runtime.Object, newFunc newWidgetInformerFunc) cache.SharedIndexInformer
	InformerName() *cache.InformerName
}

var _ widgetFactory = (*GeneratedFactory[*widgetClient, newWidgetInformerFunc])(nil)

// widgets is the generated accessor of the kind.
type widgets struct {
	factory     widgetFactory
	constructed *int
}

func (w widgets) Informer() cache.SharedIndexInformer {
	return w.factory.InformerFor(&widget{}, w.defaultInformer)
}

func (w widgets) defaultInformer(c *widgetClient, resync time.Duration) cache.SharedIndexInformer {
	*w.constructed++
	source := c.server.Source(widgetResource, "")
	return cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  source.List,
		WatchFuncWithContext: source.Watch,
	}, source), &widget{}, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

// newWidgetServer returns a server that has the CRD.
func newWidgetServer(t *testing.T) *informertest.Server {
	t.Helper()
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(widgetVersion.WithKind("Widget"), &widget{})
	s.AddKnownTypeWithName(widgetVersion.WithKind("WidgetList"), &widgetList{})
	server := informertest.New(informertest.Options{Scheme: s})
	t.Cleanup(server.Close)
	require.NoError(t, server.Register(informertest.Kind{GVR: widgetResource, GVK: widgetVersion.WithKind("Widget"), Namespaced: true}))
	return server
}

// widgetsOf returns the resource and source of a server's widgets.
func widgetsOf(server *informertest.Server) Resource {
	return Resource{GVR: widgetResource, Namespaced: true, Source: func(namespace string) (reflector.Source, error) {
		return server.Source(widgetResource, namespace), nil
	}}
}

// newWidgetFactory returns a factory that knows a server's widgets.
func newWidgetFactory(t *testing.T, server *informertest.Server, options ...Option) *Factory {
	t.Helper()
	f := NewSharedInformerFactoryWithOptions(nil, 0, options...)
	require.NoError(t, Register[*widget](f, widgetsOf(server)))
	return f
}

func newWidget(namespace, name, color string) *widget {
	return &widget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"color": color}}, Color: color}
}
