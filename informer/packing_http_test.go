package informer_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
	"github.com/tidemark-k8s/tidemark/internal/verify"
	"github.com/tidemark-k8s/tidemark/reflector"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// Reads of a packed store return the same objects as those of an unpacked one, and nothing is pinned. The server
// sends items, events, and lists with unchanged items.
func TestPackedObjectsOfAServer(t *testing.T) {
	on := verify.On
	verify.On = false // it compares all packed objects too, and takes ten times as long
	t.Cleanup(func() { verify.On = on })
	for name, test := range map[string]func(t *testing.T, c *cluster, o packedCase){
		"typed, in protobuf": func(t *testing.T, c *cluster, o packedCase) {
			client := kubernetes.NewForConfigOrDie(withContent(c.config(), runtime.ContentTypeProtobuf)).CoreV1().Pods("")
			playPacked(t, c, o, reflector.FromGenerated[*corev1.Pod](client, pods), func() (all []*corev1.Pod) {
				return itemsOf(t, client)
			}, func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
		},
		"typed, in JSON": func(t *testing.T, c *cluster, o packedCase) {
			client := kubernetes.NewForConfigOrDie(withContent(c.config(), runtime.ContentTypeJSON)).CoreV1().Pods("")
			playPacked(t, c, o, reflector.FromGenerated[*corev1.Pod](client, pods), func() (all []*corev1.Pod) {
				return itemsOf(t, client)
			}, func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
		},
		"typed, decoded by the client": func(t *testing.T, c *cluster, o packedCase) {
			client := kubernetes.NewForConfigOrDie(c.config()).CoreV1().Pods("")
			playPacked(t, c, o, reflector.From(client), func() (all []*corev1.Pod) {
				return itemsOf(t, client)
			}, func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
		},
		"dynamic": func(t *testing.T, c *cluster, o packedCase) {
			playDynamic(t, c, o, c.wired())
		},
		"dynamic, decoded by the client": func(t *testing.T, c *cluster, o packedCase) {
			playDynamic(t, c, o, c.config())
		},
		"metadata": func(t *testing.T, c *cluster, o packedCase) {
			client := metadata.NewForConfigOrDie(c.wired())
			playPacked(t, c, o, reflector.FromMetadata(client, pods, ""), func() (all []*metav1.PartialObjectMetadata) {
				list, err := client.Resource(pods).List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				for i := range list.Items {
					all = append(all, &list.Items[i])
				}
				return all
			}, func(p *metav1.PartialObjectMetadata) []string {
				return []string{p.Annotations["cni.example.com/pod-ip"]}
			})
		},
		"a custom resource": func(t *testing.T, c *cluster, o packedCase) {
			client := customPods{c.restClient()}
			playPacked(t, c, o, reflector.FromCustomResource[*Pod](client, pods), func() (all []*Pod) {
				list := &podList{}
				require.NoError(t, client.client.Get().Resource("pods").Do(t.Context()).Into(list))
				for i := range list.Items {
					all = append(all, &list.Items[i])
				}
				return all
			}, func(p *Pod) []string { return []string{fmt.Sprint(p.Spec["nodeName"])} })
		},
	} {
		for title, o := range map[string]packedCase{
			"no budget":                      {informer.NewBudget(0), false},
			"a budget":                       {informer.NewBudget(100_000), false},
			"no budget, without some fields": {informer.NewBudget(0), true},
		} {
			t.Run(name+"/"+title, func(t *testing.T) {
				if o.budget.Limit() == 0 || name != "typed, in protobuf" && name != "dynamic" {
					tier.SkipRaced(t)
				}
				inCluster(t, func(t *testing.T, c *cluster) { test(t, c, o) })
			})
		}
	}
}

// packedCase is a case of TestPackedObjectsOfAServer.
type packedCase struct {
	budget *informer.Budget
	drops  bool
}

// decoding returns the Decoding of both informers.
func (o packedCase) decoding() (d reflector.Decoding) {
	if o.drops {
		d.Drop = []string{"metadata.managedFields", "metadata.annotations"}
	}
	return d
}

func withContent(c *rest.Config, contentType string) *rest.Config {
	c.ContentType, c.AcceptContentTypes = contentType, contentType
	return c
}

// wired returns a configuration whose answers the reflector decodes.
func (c *cluster) wired() *rest.Config {
	config := c.config()
	config.Wrap(reflector.Wire)
	return config
}

func (c *cluster) restClient() *rest.RESTClient {
	config := c.config()
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/api", &schema.GroupVersion{Version: "v1"}, podCodecs()
	client, err := rest.RESTClientFor(config)
	require.NoError(c.t, err)
	return client
}

func podCodecs() runtime.NegotiatedSerializer { return scheme.Codecs.WithoutConversion() }

// Pod is a pod as a program may declare it, with an untyped part.
type Pod struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              map[string]any    `json:"spec,omitempty"`
	Status            *corev1.PodStatus `json:"status,omitempty"`
}

func (p *Pod) DeepCopyObject() runtime.Object { c := *p; return &c }

type podList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Pod `json:"items"`
}

func (l *podList) DeepCopyObject() runtime.Object { c := *l; return &c }

type customPods struct{ client *rest.RESTClient }

func (p customPods) GetClient() rest.Interface { return p.client }
func (customPods) GetNamespace() string        { return "" }

func (customPods) List(context.Context, metav1.ListOptions) (*podList, error) {
	return nil, fmt.Errorf("the reflector sends the requests")
}

func (customPods) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, fmt.Errorf("the reflector sends the requests")
}

func itemsOf(t *testing.T, client interface {
	List(context.Context, metav1.ListOptions) (*corev1.PodList, error)
}) (all []*corev1.Pod) {
	t.Helper()
	list, err := client.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all
}

func playDynamic(t *testing.T, c *cluster, o packedCase, config *rest.Config) {
	t.Helper()
	client := dynamic.NewForConfigOrDie(config)
	playPacked(t, c, o, reflector.FromDynamic(client, pods, ""), func() (all []*unstructured.Unstructured) {
		list, err := client.Resource(pods).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
		return all
	}, func(u *unstructured.Unstructured) []string {
		node, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName")
		return []string{node}
	})
}

// packedPlay runs an informer with packed objects and one without.
type packedPlay[T informer.Object] struct {
	t       *testing.T
	cluster *cluster
	o       packedCase
	live    func() []T
	packed  *informer.Informer[T]
	twin    *informer.Informer[T]

	mu       sync.Mutex
	recorded []error
	seen     map[string]T // the handler's last objects, by key
}

func playPacked[T informer.Object](t *testing.T, c *cluster, o packedCase, source reflector.Source, live func() []T, node func(T) []string) {
	t.Helper()
	p := &packedPlay[T]{t: t, cluster: c, o: o, live: live, seen: map[string]T{}}
	options := informer.Options[T]{
		Decoding: o.decoding(), LabelIndexes: []string{"tier"},
		Indexes: []indexer.Index[T]{{Name: "node", Append: func(values []string, obj T) []string { return append(values, node(obj)...) }}},
	}
	p.twin = informer.New(source, options)
	options.Storage, options.Observe = informer.Storage{Decoded: o.budget}, func(e informer.Event) {
		if e, ok := e.(*informer.StorageError); ok {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.recorded = append(p.recorded, e)
		}
	}
	p.packed = informer.New(source, options)
	_, err := p.packed.Handle(informer.HandlerFunc[T](p.handle), informer.HandlerOptions{})
	require.NoError(t, err)
	p.play()
}

func (p *packedPlay[T]) handle(c informer.Change[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Kind == informer.Deleted {
		delete(p.seen, c.Old.GetName())
		return
	}
	if c.Kind == informer.Updated && !reflect.DeepEqual(p.seen[c.New.GetName()], c.Old) {
		p.recorded = append(p.recorded, fmt.Errorf("the old %s is not the one of the change before", c.Old.GetName()))
	}
	p.seen[c.New.GetName()] = c.New
}

// start starts both informers.
func (p *packedPlay[T]) start() (stop func()) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	var waits []func() error
	for _, i := range []*informer.Informer[T]{p.packed, p.twin} {
		wait, err := i.Start(ctx)
		require.NoError(p.t, err)
		waits = append(waits, wait)
		require.NoError(p.t, i.WaitSynced(p.t.Context()))
	}
	return func() {
		cancel()
		for _, wait := range waits {
			require.NoError(p.t, wait())
		}
	}
}

func (p *packedPlay[T]) play() {
	server, ctx := p.cluster.server, p.t.Context()
	pod := func(i int) *corev1.Pod {
		pod := kit.RunningPod(fmt.Sprint(i%3), i)
		pod.ResourceVersion, pod.UID = "", ""
		return pod
	}
	for i := range 12 {
		require.NoError(p.t, server.Create(ctx, pod(i)))
	}
	stop := p.start()
	p.settle()
	p.check()
	change := func(from int) {
		for i := from; i < from+4; i++ {
			changed := pod(i)
			changed.Labels["tier"], changed.Status.Message = "backend", fmt.Sprint("changed ", i)
			require.NoError(p.t, server.Update(ctx, changed))
		}
		require.NoError(p.t, server.Delete(ctx, pod(from)))
		require.NoError(p.t, server.Create(ctx, pod(12+from)))
	}
	change(0)
	p.settle()
	p.check()
	server.Compact()
	change(4)
	server.Compact()
	server.CutWatches()
	p.settle()
	p.check()
	stop()
	p.check()
}

func (p *packedPlay[T]) settle() {
	p.t.Helper()
	require.NoError(p.t, p.cluster.server.Settle(p.t.Context(), p.packed, p.twin))
}

// check compares the informers with each other, and the packed one with a list.
func (p *packedPlay[T]) check() {
	p.t.Helper()
	if p.o.budget.Limit() == 0 {
		require.Zero(p.t, p.o.budget.Used())
	}
	twins := p.twin.Indexer().Snapshot().List()
	require.Len(p.t, p.packed.Indexer().Snapshot().List(), len(twins))
	p.mu.Lock()
	recorded, seen := slices.Clone(p.recorded), maps.Clone(p.seen)
	p.mu.Unlock()
	require.Empty(p.t, recorded)
	require.Len(p.t, seen, len(twins))
	for _, twin := range twins {
		require.Equal(p.t, twin, seen[twin.GetName()])
	}
	for _, twin := range twins {
		got, ok := p.packed.Indexer().Get(indexer.Key{Namespace: twin.GetNamespace(), Name: twin.GetName()})
		require.True(p.t, ok)
		require.Equal(p.t, twin, got)
		again, _ := p.packed.Indexer().Get(indexer.Key{Namespace: twin.GetNamespace(), Name: twin.GetName()})
		require.Equal(p.t, p.o.budget.Limit() > 0, got == again)
		require.LessOrEqual(p.t, p.o.budget.Used(), p.o.budget.Limit())
	}
	tier := kit.Selector("tier in (backend,frontend-1)")
	require.Equal(p.t, byName(p.twin.Indexer().Select("", tier)), byName(p.packed.Indexer().Select("", tier)))
	nodes, err := p.twin.Indexer().Values("node")
	require.NoError(p.t, err)
	for _, node := range nodes {
		require.Equal(p.t, byName(slices.Collect(p.twin.Indexer().By("node", node))), byName(slices.Collect(p.packed.Indexer().By("node", node))))
	}
	if !p.o.drops {
		live := byName(p.live())
		for i, twin := range byName(twins) {
			require.True(p.t, reflect.DeepEqual(live[i], twin), "%s: %+v", live[i].GetName(), live[i].GetObjectKind())
		}
	}
	s := p.packed.Status().Storage
	require.Zero(p.t, s.Pinned)
	require.Positive(p.t, s.Packed)
	require.Equal(p.t, s.Decoded, p.o.budget.Used())
}

func byName[T informer.Object](all []T) []T {
	return slices.SortedFunc(slices.Values(all), func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
}
