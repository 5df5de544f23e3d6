package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var gaugesResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gauges"}

// Gauge is the program's Go type for a custom resource. Its level is a number.
type Gauge struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Level int `json:"level"`
	} `json:"spec"`
}

// GaugeList is the answer to a list request.
type GaugeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Gauge `json:"items"`
}

// DeepCopyObject makes Gauge a runtime.Object.
func (g *Gauge) DeepCopyObject() runtime.Object {
	twin := *g
	g.DeepCopyInto(&twin.ObjectMeta)
	return &twin
}

// DeepCopyObject makes GaugeList a runtime.Object.
func (l *GaugeList) DeepCopyObject() runtime.Object {
	twin := *l
	l.ListMeta.DeepCopyInto(&twin.ListMeta)
	twin.Items = make([]Gauge, len(l.Items))
	for i := range l.Items {
		twin.Items[i] = *l.Items[i].DeepCopyObject().(*Gauge)
	}
	return &twin
}

// gaugeClient is the client for gauges that client-gen would generate.
type gaugeClient = *gentype.ClientWithList[*Gauge, *GaugeList]

func newGaugeClient(config *rest.Config) (gaugeClient, error) {
	known := runtime.NewScheme()
	known.AddKnownTypes(gaugesResource.GroupVersion(), &Gauge{}, &GaugeList{})
	metav1.AddToGroupVersion(known, gaugesResource.GroupVersion())
	config = rest.CopyConfig(config)
	gv := gaugesResource.GroupVersion()
	config.GroupVersion, config.APIPath = &gv, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(known).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return gentype.NewClientWithList[*Gauge, *GaugeList](gaugesResource.Resource, client, runtime.NewParameterCodec(known), "",
		func() *Gauge { return &Gauge{} }, func() *GaugeList { return &GaugeList{} }), nil
}

// gauges writes gauges like a client without the Go type.
type gauges struct {
	s      *scenario
	client dynamic.Interface
}

// createGauges creates the kind Gauge, with a schema of integer levels, and n gauges.
func (s *scenario) createGauges(n int) gauges {
	s.t.Helper()
	g := gauges{s, dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))}
	s.createKind(g.client, gaugesResource, "Gauge")
	g.specs(`{"type":"object","properties":{"level":{"type":"integer"}}}`)
	for i := range n {
		g.create(i, int64(i))
	}
	s.eventually("the schema is enforced", func() error {
		if err := g.level(0, `"low"`); err == nil {
			return errNone
		}
		return nil
	})
	s.must(g.level(0, "0"))
	return g
}

// specs replaces the schema of the kind's specs.
func (g gauges) specs(schema string) {
	g.s.t.Helper()
	patch := `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties","value":{"spec":` + schema + `}}]`
	_, err := g.client.Resource(crdsResource).Patch(g.s.ctx, gaugesResource.GroupResource().String(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	g.s.must(err)
}

func gaugeName(i int) string { return fmt.Sprint("gauge-", i) }

func (g gauges) create(i int, level any) {
	g.s.t.Helper()
	one := object(gaugesResource, "Gauge", gaugeName(i))
	one.Object["spec"] = map[string]any{"level": level}
	_, err := g.client.Resource(gaugesResource).Namespace("default").Create(g.s.ctx, one, metav1.CreateOptions{})
	g.s.must(err)
}

// level sets the level of a gauge to a JSON value.
func (g gauges) level(i int, level string) error {
	return g.patch(i, `{"spec":{"level":`+level+`}}`)
}

func (g gauges) patch(i int, patch string) error {
	_, err := g.client.Resource(gaugesResource).Namespace("default").
		Patch(g.s.ctx, gaugeName(i), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// gaugeMirror is a mirror of gauges that records errors and deletions.
type gaugeMirror struct {
	*mirror[*Gauge]

	mu       sync.Mutex
	recorded []error // errors that the watch error handler has received
	deletes  int
}

// registered starts a mirror whose informer comes from a factory with a registered type.
func (s *scenario) registered(config *rest.Config, source func(gaugeClient) reflector.Source) *gaugeMirror {
	s.t.Helper()
	m := &gaugeMirror{mirror: newMirror[*Gauge](s)}
	m.list = s.listGauges
	client, err := newGaugeClient(m.counting(config))
	s.must(err)
	f := factory.NewSharedInformerFactory(nil, 0)
	s.must(factory.Register[*Gauge](f, factory.Resource{GVR: gaugesResource, Source: func(string) (reflector.Source, error) { return source(client), nil }}))
	m.informer, err = factory.For[*Gauge](f)
	s.must(err)
	shared := m.informer.Shared()
	s.must(shared.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		m.mu.Lock()
		defer m.mu.Unlock()

		m.recorded = append(m.recorded, err)
	}))
	_, err = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) {
		m.mu.Lock()
		defer m.mu.Unlock()

		m.deletes++
	}})
	s.must(err)
	m.handle(newView[*Gauge]("every"), informer.HandlerOptions{})
	m.handle(newView[*Gauge]("latest"), informer.HandlerOptions{Delivery: informer.Latest})
	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	s.t.Cleanup(func() {
		cancel()
		f.Shutdown()
	})
	return m
}

func ofCustomResource(c gaugeClient) reflector.Source {
	return reflector.FromCustomResource[*Gauge](c, gaugesResource)
}

func (s *scenario) listGauges(ctx context.Context) ([]*Gauge, error) {
	client, err := newGaugeClient(s.connect(s.dynamicConfig()))
	if err != nil {
		return nil, err
	}
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

// quarantines waits until n objects are quarantined, and the watch error handler has received the error
// of gauge last.
func (m *gaugeMirror) quarantines(n, last int) {
	m.s.t.Helper()
	m.s.eventually("an object is quarantined", func() error {
		if got := m.informer.Status().Quarantined; got != n {
			return fmt.Errorf("%d objects are quarantined, want %d", got, n)
		}
		return m.heard(last)
	})
}

func (m *gaugeMirror) heard(i int) error {
	m.mu.Lock()
	defer m.mu.Unlock()

	for _, err := range m.recorded {
		q := &informer.QuarantineError{}
		if errors.As(err, &q) && q.Key.Name == gaugeName(i) && errors.Is(err, informer.ErrDecode) {
			return nil
		}
	}
	return fmt.Errorf("no error for %s: %w", gaugeName(i), errors.Join(m.recorded...))
}

// forget discards the recorded errors.
func (m *gaugeMirror) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.recorded = nil
}

// reads waits until a gauge has a level.
func (m *gaugeMirror) reads(i, level int) {
	m.s.t.Helper()
	m.s.eventually("the level is read", func() error {
		g, ok := m.informer.Indexer().Get(indexer.Key{Namespace: "default", Name: gaugeName(i)})
		if !ok || g.Spec.Level != level {
			return fmt.Errorf("%s is %+v, want level %d", gaugeName(i), g, level)
		}
		return nil
	})
}

// strictGauges starts an informer with FailOnUndecodable, and a client-go informer.
func (s *scenario) strictGauges() (*mirror[*Gauge], *faultyStart) {
	s.t.Helper()
	m := newMirror[*Gauge](s)
	m.list = s.listGauges
	client, err := newGaugeClient(m.counting(s.dynamicConfig()))
	s.must(err)
	o := m.options()
	o.FailOnUndecodable = true
	m.informer = informer.New[*Gauge](ofCustomResource(client), o)
	m.start()

	w := &faultyStart{scenario: s}
	w.shared = cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		WatchFuncWithContext: client.Watch,
	}, client), &Gauge{}, 0, cache.Indexers{})
	w.start()
	return m, w
}

// A CRD's schema is loosened, and a client writes a value that the program's Go type cannot hold. Only
// this object is quarantined. Its last known state stays in the cache, even after a relist. All other
// objects are updated as usual until the object is repaired.
func TestScenario_UndecodableObject(t *testing.T) {
	const n, bad, unknown = 20, 3, 20

	s := begin(t, harness.Options{})
	g := s.createGauges(n)
	proxy := s.proxy()
	m := s.registered(harness.Via(s.dynamicConfig(), proxy.Address()), ofCustomResource)
	m.watching()
	s.eventually("the handlers know all objects", m.viewsDiffer)

	g.specs(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`)
	s.eventually("the schema is loosened", func() error { return g.level(bad, `"high"`) })
	m.quarantines(1, bad)
	m.reads(bad, bad)
	s.must(g.level(5, "500"))
	m.reads(5, 500)
	g.create(unknown, "full")
	m.quarantines(2, unknown)

	proxy.Refuse()
	proxy.Cut()
	s.must(g.level(6, "600"))
	s.must(s.cluster.RestartAPIServer(s.ctx))
	m.forget()
	s.must(proxy.Admit())
	m.reads(6, 600)
	require.Positive(t, m.informer.Status().Relists)
	m.quarantines(2, bad)
	m.reads(bad, bad)
	require.Equal(t, n, m.informer.Indexer().Len())

	strict, w := s.strictGauges()
	_ = strict.failing(saying("level"))
	w.awaitErrors("that the list cannot be decoded", saying("level"))
	require.False(t, strict.informer.Status().Synced)
	require.False(t, w.shared.HasSynced())

	s.must(g.level(bad, "30"))
	s.must(g.level(unknown, "40"))
	s.heal()
	m.reads(bad, 30)
	m.reads(unknown, 40)
	require.Zero(t, m.informer.Status().Quarantined)
	strict.converge()
	s.eventually("client-go has synced", func() error {
		if !w.shared.HasSynced() || len(w.shared.GetStore().ListKeys()) != n+1 {
			return errNone
		}
		return nil
	})
	m.settle()
	s.budget(60)
	m.mu.Lock()
	defer m.mu.Unlock()
	require.Zero(t, m.deletes, "nothing was deleted")
}
