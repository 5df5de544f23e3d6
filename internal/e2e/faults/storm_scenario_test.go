package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// stormKinds is the number of watched kinds. customKinds of them are custom resources.
const (
	stormKinds  = 50
	customKinds = 6
)

// storm has an informer of each of many kinds. The built-in kinds share a client, and so do the custom
// resources. Their requests are counted together.
type storm struct {
	s        *scenario
	metadata metadata.Interface // lists the server's objects without the proxy
	requests harness.Requests
	kinds    []*kindWatch
}

// Informers of fifty kinds lose all connections at once, several times, and then their server.
func TestScenario_FiftyInformersReconnect(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(200)
	admin := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))
	s.createGadgets(admin)
	proxy := s.proxy()
	st := s.storm(proxy.Address())
	st.synced()
	before := st.requests.Total()
	require.LessOrEqual(t, before, 3*len(st.kinds), "a stream per kind, plus a list and a watch if the stream was slow")

	for range size(2, 5) {
		proxy.Cut()
		s.sleep(500 * time.Millisecond)
	}
	s.must(s.cluster.RestartAPIServer(s.ctx))
	proxy.Cut()
	s.heal()
	changed := st.annotate(admin)
	for _, k := range st.kinds {
		s.eventually(k.resource.Resource+": the cache equals the server's state", func() error { return st.differs(k) })
	}
	took := time.Since(s.healed)
	for _, k := range st.kinds {
		require.Empty(t, k.complaints(), k.resource)
	}
	sent := st.requests.Total() - before
	require.LessOrEqual(t, sent, 12*len(st.kinds), "requests of all informers")
	s.note = fmt.Sprintf("%d kinds, %d with objects; %d requests after the faults began", len(st.kinds), changed, sent)
	s.row(took)
}

// storm starts an informer of each kind, with clients that connect to an address.
func (s *scenario) storm(address string) *storm {
	s.t.Helper()
	st := &storm{s: s, metadata: metadata.NewForConfigOrDie(s.connect(s.cluster.Config()))}
	s.counted = append(s.counted, st)
	typed := factory.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(st.counting(s.cluster.Config(), address)), 0)
	custom := factory.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(st.counting(s.dynamicConfig(), address)), 0)
	for i := range customKinds {
		st.watch(gadgets(i), custom.ForResource(gadgets(i)).Informer())
	}
	for _, resource := range s.watchableKinds() {
		i, err := typed.ForResource(resource)
		if err == nil && len(st.kinds) < stormKinds {
			st.watch(resource, i.Informer())
		}
	}
	require.Len(s.t, st.kinds, stormKinds)
	ctx, cancel := context.WithCancel(context.Background())
	typed.StartWithContext(ctx)
	custom.StartWithContext(ctx)
	s.t.Cleanup(func() { cancel(); typed.Shutdown(); custom.Shutdown() })
	return st
}

func (st *storm) counting(config *rest.Config, address string) *rest.Config {
	config = st.s.connect(harness.Via(config, address))
	st.requests.Count(config)
	return config
}

func (st *storm) watch(resource schema.GroupVersionResource, i cache.SharedIndexInformer) {
	st.s.t.Helper()
	k := &kindWatch{resource: resource, informer: i, seen: map[string]string{}}
	_, err := i.AddEventHandler(k)
	st.s.must(err)
	st.kinds = append(st.kinds, k)
}

func (st *storm) synced() {
	st.s.t.Helper()
	for _, k := range st.kinds {
		st.s.eventually(k.resource.Resource+": synced", func() error {
			if !k.informer.HasSynced() {
				return errors.New("the informer is not synced")
			}
			return nil
		})
	}
}

// differs returns an error if the cache or the handler's view differs from the server's objects.
func (st *storm) differs(k *kindWatch) error {
	list, err := st.metadata.Resource(k.resource).List(st.s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	truth := map[string]string{}
	for i := range list.Items {
		truth[keyOf(&list.Items[i]).String()] = identity(&list.Items[i])
	}
	return k.differs(truth)
}

// annotate changes one object of each kind that has objects. It returns the number of changed objects.
func (st *storm) annotate(admin dynamic.Interface) (changed int) {
	st.s.t.Helper()
	for _, k := range st.kinds {
		list, err := st.metadata.Resource(k.resource).List(st.s.ctx, metav1.ListOptions{Limit: 1})
		st.s.must(err)
		if len(list.Items) == 0 {
			continue
		}
		o := &list.Items[0]
		_, err = admin.Resource(k.resource).Namespace(o.Namespace).Patch(st.s.ctx, o.Name, types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"round":"7"}}}`), metav1.PatchOptions{})
		st.s.must(err)
		changed++
	}
	return changed
}

// counts counts every list or stream of a kind after the first one as a relist.
func (st *storm) counts() (lists, streams, watches, relists int) {
	r := &st.requests
	return int(r.Lists.Load()), int(r.Streams.Load()), int(r.Watches.Load()), int(r.States.Load()) - len(st.kinds)
}

// watchableKinds are the resources that can be listed and watched, except Events and Leases, which the
// server constantly writes.
func (s *scenario) watchableKinds() []schema.GroupVersionResource {
	s.t.Helper()
	client := discovery.NewDiscoveryClientForConfigOrDie(s.connect(s.cluster.Config()))
	lists, err := client.ServerPreferredResources()
	s.must(err)
	var kinds []schema.GroupVersionResource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		s.must(err)
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "watch") && slices.Contains(r.Verbs, "list") && r.Name != "leases" && r.Name != "events" {
				kinds = append(kinds, gv.WithResource(r.Name))
			}
		}
	}
	return kinds
}

func gadgets(i int) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: fmt.Sprintf("gadget%ds", i)}
}

// createGadgets creates the custom kinds and an object of each one.
func (s *scenario) createGadgets(client dynamic.Interface) {
	s.t.Helper()
	for i := range customKinds {
		s.createKind(client, gadgets(i), fmt.Sprintf("Gadget%d", i))
	}
	for i := range customKinds {
		gadget := object(gadgets(i), fmt.Sprintf("Gadget%d", i), "first")
		_, err := client.Resource(gadgets(i)).Namespace("default").Create(s.ctx, gadget, metav1.CreateOptions{})
		s.must(err)
	}
}
