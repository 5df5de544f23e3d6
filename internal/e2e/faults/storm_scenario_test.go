package faults

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

type metadataMirror = mirror[*metav1.PartialObjectMetadata]

// All kinds that the server has are watched, and all connections break at
// once, while the server restarts.
func TestScenario_FiftyInformersReconnect(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createPods(200)
	proxy := s.proxy()
	kinds := s.watchableKinds()
	require.GreaterOrEqual(t, len(kinds), 50, "kinds to watch")
	kinds = kinds[:50]
	mirrors := s.watchMetadata(harness.Via(s.cluster.Config(), proxy.Address()).Host, kinds)
	for _, m := range mirrors {
		m.watching()
	}
	before := mirrors[0].requests.Total()
	require.Equal(t, len(kinds), before, "a request for each kind")

	for range size(2, 5) {
		proxy.Cut()
		s.sleep(500 * time.Millisecond)
	}
	s.must(s.cluster.RestartAPIServer(s.ctx))
	proxy.Cut()
	s.heal()
	s.annotateAll(mirrors)
	slowest := time.Duration(0)
	for _, m := range mirrors {
		slowest = max(slowest, m.converge())
	}
	sent := mirrors[0].requests.Total() - before
	require.LessOrEqual(t, sent, 8*len(kinds), "requests of all")
	s.note = fmt.Sprintf("%d informers, %d requests after the faults began", len(mirrors), sent)
	s.row(slowest)
}

// watchableKinds are the resources that can be listed and watched. Events and
// Leases are left out: the server writes them all the time.
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

// watchMetadata starts an informer of each kind's metadata. They have one client.
func (s *scenario) watchMetadata(host string, kinds []schema.GroupVersionResource) []*metadataMirror {
	s.t.Helper()
	direct := metadata.NewForConfigOrDie(s.connect(s.cluster.Config()))
	first := newMirror[*metav1.PartialObjectMetadata](s)
	config := s.cluster.Config()
	config.Host = host
	f := factory.NewMetadataSharedInformerFactory(metadata.NewForConfigOrDie(first.counting(config)), 0)
	var all []*metadataMirror
	for i, kind := range kinds {
		m := first
		if i > 0 {
			m = newMirror[*metav1.PartialObjectMetadata](s)
			m.requests, m.shares = first.requests, true
		}
		m.list = func(ctx context.Context) ([]*metav1.PartialObjectMetadata, error) {
			list, err := direct.Resource(kind).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			return pointers(list.Items), nil
		}
		var ok bool
		m.informer, ok = informer.As[*metav1.PartialObjectMetadata](f.ForResource(kind).Informer())
		require.True(s.t, ok)
		m.handle(newView[*metav1.PartialObjectMetadata](kind.Resource), informer.HandlerOptions{})
		m.patch = func(ctx context.Context, o *metav1.PartialObjectMetadata) error {
			_, err := direct.Resource(kind).Namespace(o.Namespace).Patch(ctx, o.Name, types.MergePatchType,
				[]byte(`{"metadata":{"annotations":{"round":"7"}}}`), metav1.PatchOptions{})
			return err
		}
		all = append(all, m)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	s.t.Cleanup(func() { cancel(); f.Shutdown() })
	return all
}

// annotateAll changes one object of each kind that has any.
func (s *scenario) annotateAll(mirrors []*metadataMirror) {
	s.t.Helper()
	for _, m := range mirrors {
		all, err := m.list(s.ctx)
		s.must(err)
		if len(all) > 0 {
			s.must(m.patch(s.ctx, all[0]))
		}
	}
}
