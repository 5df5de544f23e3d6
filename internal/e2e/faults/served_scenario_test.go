package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// upWithin is the time in which an informer must sync after its resource is served: the longest pause
// between two lists, plus the time for the list.
const upWithin = 15*time.Second + 3*time.Second

// crdWidgets returns a mirror of all widgets. It is not started yet.
func (s *scenario) crdWidgets(config *rest.Config, client dynamic.Interface) *mirror[*unstructured.Unstructured] {
	m := s.widgets(config, client)
	m.informer = informer.New[*unstructured.Unstructured](
		reflector.FromDynamic(dynamic.NewForConfigOrDie(m.counting(config)), widgetsResource, ""), m.options())
	return m
}

// partialWidgets returns a mirror of the metadata of all widgets. It is not started yet.
func (s *scenario) partialWidgets() *mirror[*metav1.PartialObjectMetadata] {
	m := newMirror[*metav1.PartialObjectMetadata](s)
	direct := metadata.NewForConfigOrDie(s.connect(s.cluster.Config()))
	m.list = func(ctx context.Context) ([]*metav1.PartialObjectMetadata, error) {
		list, err := direct.Resource(widgetsResource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil // without the kind there are no objects
		}
		if err != nil {
			return nil, err
		}
		return pointers(list.Items), nil
	}
	config := m.counting(s.cluster.Config())
	config.Wrap(reflector.Wire)
	client := metadata.NewForConfigOrDie(config)
	m.informer = informer.New[*metav1.PartialObjectMetadata](reflector.FromMetadata(client, widgetsResource, ""), m.options())
	return m
}

// waits waits until the informer's status says that it waits for its resource.
func (m *mirror[T]) waits() {
	m.s.t.Helper()
	m.s.eventually("the informer waits for its resource", func() error {
		if m.informer.Status().NotServedSince.IsZero() {
			return fmt.Errorf("it does not wait; last error: %w", errorOr(m.informer.Status().LastError))
		}
		return nil
	})
	require.ErrorIs(m.s.t, m.informer.Status().LastError, reflector.ErrNotServed)
}

// comesUp waits until the informer is synced and watches. It fails if this takes longer than upWithin
// after since.
func (m *mirror[T]) comesUp(since time.Time) {
	m.s.t.Helper()
	m.watching()
	took := time.Since(since)
	m.s.t.Logf("%T is synced %v after the resource was served", m.informer, took.Round(time.Millisecond))
	require.Less(m.s.t, took, upWithin)
	require.Zero(m.s.t, m.informer.Status().NotServedSince)
}

func TestScenario_CRDCreatedLater(t *testing.T) {
	s := begin(t, harness.Options{})
	client := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))
	m := s.crdWidgets(s.dynamicConfig(), client)
	partial := s.partialWidgets()
	m.start()
	partial.start()
	m.waits()
	partial.waits()
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Millisecond)
	err := m.informer.WaitSynced(ctx)
	cancel()
	require.ErrorIs(t, err, informer.ErrNotSynced)
	require.ErrorIs(t, err, reflector.ErrNotServed)
	s.sleep(size(5*time.Second, time.Minute))
	lists, streams, _, _ := m.counts()
	require.LessOrEqual(t, lists+streams, size(8, 16), "must not be a storm of requests")

	s.createCRD(client)
	served := time.Now()
	m.comesUp(served)
	partial.comesUp(served)
	s.createWidgets(client, 50, 100)
	s.heal()
	partial.converge()
	m.settle()
}

// A definition is deleted together with its objects while the informer is disconnected. The objects stay
// until the definition is back, possibly with another schema. Then the handlers get the deletions.
func TestScenario_CRDRemovedAndCreatedAgain(t *testing.T) {
	s := begin(t, harness.Options{})
	client := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))
	s.createCRD(client)
	s.createWidgets(client, 50, 100)
	proxy := s.proxy()
	m := s.crdWidgets(harness.Via(s.dynamicConfig(), proxy.Address()), client)
	m.start()
	m.watching()
	for round := range 2 { // only in the second round has the informer waited for a definition before
		s.heal()
		m.converge()
		proxy.Refuse()
		proxy.Cut()
		s.removeCRD(client)
		s.sleep(time.Second)
		require.Zero(t, m.views[0].deletions()-50*round, "the deletions are not known yet")
		s.must(proxy.Admit())
		s.heal()
		m.waits()
		s.sleep(size(5*time.Second, time.Minute))
		require.Equal(t, 50, m.informer.Status().Objects)
		require.Zero(t, m.views[0].deletions()-50*round, "a 404 deletes nothing")

		s.createCRD(client)
		m.comesUp(time.Now())
		s.eventually("the deletions are delivered", func() error {
			if n := m.views[0].deletions(); n != 50*(round+1) {
				return fmt.Errorf("%d deletions", n)
			}
			return nil
		})
		s.must(s.patchCRD(client, `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{
			"type":"object","properties":{"spec":{"type":"object","properties":{"payload":{"type":"string"}}}}}}}]}}`))
		s.createWidgets(client, 50, 100)
	}
	s.heal()
	m.settle()
}

// removeCRD deletes the kind Widget, and waits until it is gone.
func (s *scenario) removeCRD(client dynamic.Interface) {
	s.t.Helper()
	s.must(client.Resource(crdsResource).Delete(s.ctx, "widgets.example.com", metav1.DeleteOptions{}))
	s.eventually("the definition is gone", func() error {
		_, err := client.Resource(crdsResource).Get(s.ctx, "widgets.example.com", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return errorOr(err)
		}
		return nil
	})
}

func (s *scenario) patchCRD(client dynamic.Interface, patch string) error {
	_, err := client.Resource(crdsResource).Patch(s.ctx, "widgets.example.com", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// An informer of v1 keeps its objects while only v2 is served, and reports it.
func TestScenario_VersionNoLongerServed(t *testing.T) {
	s := begin(t, harness.Options{})
	client := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))
	s.createCRD(client)
	s.createWidgets(client, 50, 100)
	m := s.crdWidgets(s.dynamicConfig(), client)
	m.start()
	m.watching()
	serveV1 := func(served bool) {
		const loose = `"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
		s.must(s.patchCRD(client, fmt.Sprintf(`{"spec":{"versions":[{"name":"v1","served":%v,"storage":false,%s},{"name":"v2","served":true,"storage":true,%s}]}}`, served, loose, loose)))
	}
	serveV1(false)
	m.waits()
	require.Equal(t, 50, m.informer.Status().Objects)
	serveV1(true)
	s.eventually("v1 is served", func() error {
		_, err := client.Resource(widgetsResource).List(s.ctx, metav1.ListOptions{})
		return err
	})
	m.comesUp(time.Now())
	s.heal()
	m.settle()
	require.Zero(t, m.views[0].deletions(), "the objects are the same")
	s.budget(30)
}

// A restarted server may answer 404 for a custom resource before it serves the resource again.
func TestScenario_APIServerRestartedWithCRD(t *testing.T) {
	s := begin(t, harness.Options{})
	client := dynamic.NewForConfigOrDie(s.connect(s.dynamicConfig()))
	s.createCRD(client)
	s.createWidgets(client, 50, 100)
	m := s.crdWidgets(s.dynamicConfig(), client)
	partial := s.partialWidgets()
	m.start()
	partial.start()
	m.watching()
	partial.watching()
	for range size(2, 6) {
		s.must(s.cluster.RestartAPIServer(s.ctx))
		s.sleep(3 * time.Second)
	}
	s.heal()
	partial.converge()
	m.settle()
	require.Zero(t, m.views[0].deletions())
	require.Zero(t, partial.views[0].deletions())
}
