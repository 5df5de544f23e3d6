package faults

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// mirror is an informer under test. The views of its handlers are compared with its cache.
type mirror[T informer.Object] struct {
	s        *scenario
	informer *informer.Informer[T]
	// list lists the server's objects consistently, without the informer's client.
	list     func(context.Context) ([]T, error)
	requests harness.Requests
	indexes  []indexer.Index[T]
	views    []*view[T]
	packed   bool // the informer decodes an object for each reader

	mu     sync.Mutex
	events []informer.Event
}

// podSource returns the source that a factory makes. tidemark decodes its answers. In these scenarios,
// client-go decodes them for the informers with client-go's API.
func podSource(client kubernetes.Interface) reflector.Source {
	return reflector.FromGenerated[*corev1.Pod](client.CoreV1().Pods(""), corev1.SchemeGroupVersion.WithResource("pods"))
}

// watchPods starts an informer of all pods with a client of config.
func (s *scenario) watchPods(config *rest.Config) *mirror[*corev1.Pod] {
	s.t.Helper()
	m := s.pods(config, podSource)
	m.start()
	return m
}

// pods returns a mirror of all pods. It is not started yet.
func (s *scenario) pods(config *rest.Config, source func(kubernetes.Interface) reflector.Source) *mirror[*corev1.Pod] {
	m := newMirror[*corev1.Pod](s)
	m.indexes = podIndexes
	m.list = func(ctx context.Context) ([]*corev1.Pod, error) {
		list, err := s.admin.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		return pointers(list.Items), err
	}
	client := kubernetes.NewForConfigOrDie(m.counting(config))
	m.informer = informer.New[*corev1.Pod](source(client), m.options())
	return m
}

// podIndexes are typical indexes of controllers.
var podIndexes = []indexer.Index[*corev1.Pod]{
	{Name: "node", Append: func(values []string, p *corev1.Pod) []string { return append(values, p.Spec.NodeName) }},
	{Name: "app", Append: func(values []string, p *corev1.Pod) []string { return append(values, p.Labels["app"]) }},
	{Name: "round", Append: func(values []string, p *corev1.Pod) []string {
		if round, ok := p.Annotations["round"]; ok {
			values = append(values, round)
		}
		return values
	}},
}

// configMaps returns a mirror of all configmaps in the default namespace. It is not started yet.
func (s *scenario) configMaps(config *rest.Config, wrap func(reflector.Source) reflector.Source) *mirror[*corev1.ConfigMap] {
	m := newMirror[*corev1.ConfigMap](s)
	m.list = func(ctx context.Context) ([]*corev1.ConfigMap, error) {
		list, err := s.admin.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		return pointers(list.Items), err
	}
	client := kubernetes.NewForConfigOrDie(m.counting(config))
	m.informer = informer.New[*corev1.ConfigMap](wrap(reflector.From(client.CoreV1().ConfigMaps("default"))), m.options())
	return m
}

func newMirror[T informer.Object](s *scenario) *mirror[T] {
	m := &mirror[T]{s: s, packed: s.storage.Decoded != nil}
	s.counted = append(s.counted, m)
	return m
}

// counting returns a copy of config whose requests count as the mirror's.
func (m *mirror[T]) counting(config *rest.Config) *rest.Config {
	config = m.s.connect(rest.CopyConfig(config))
	m.requests.Count(config)
	return config
}

func (m *mirror[T]) options() informer.Options[T] {
	return informer.Options[T]{Indexes: m.indexes, Observe: m.observe, Storage: m.s.storage}
}

func (m *mirror[T]) observe(e informer.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if len(m.events) < 10_000 {
		m.events = append(m.events, e)
	}
}

// handle registers a handler. Its view is compared with the cache.
func (m *mirror[T]) handle(v *view[T], o informer.HandlerOptions) informer.Registration {
	m.s.t.Helper()
	o.Name, v.Copies = v.Name, m.packed
	r, err := m.informer.Handle(v, o)
	require.NoError(m.s.t, err)
	m.views = append(m.views, v)
	return r
}

// start runs the informer until the end of the test, with two handlers: one gets every change, and the
// other one only the latest of each object.
func (m *mirror[T]) start() {
	m.s.t.Helper()
	m.handle(newView[T]("every"), informer.HandlerOptions{})
	latest := newView[T]("latest")
	latest.Merged = true
	m.handle(latest, informer.HandlerOptions{Delivery: informer.Latest})
	ctx, cancel := context.WithCancel(context.Background())
	wait, err := m.informer.Start(ctx)
	require.NoError(m.s.t, err)
	m.s.t.Cleanup(func() { cancel(); require.NoError(m.s.t, wait()) })
}

// synced waits until the store is complete.
func (m *mirror[T]) synced() {
	m.s.t.Helper()
	ctx, cancel := context.WithTimeout(m.s.ctx, patience)
	defer cancel()
	require.NoError(m.s.t, m.informer.WaitSynced(ctx))
}

// watching waits until the informer is synced and watches.
func (m *mirror[T]) watching() {
	m.s.t.Helper()
	m.synced()
	m.s.eventually("watching", func() error {
		if st := m.informer.Status(); !st.Watching {
			return fmt.Errorf("not watching; last error: %w", errorOr(st.LastError))
		}
		return nil
	})
}

// progresses keeps the watch open for a second, and waits until it delivers another event.
func (m *mirror[T]) progresses() {
	m.s.t.Helper()
	m.s.sleep(time.Second)
	before := m.informer.Status().LastEvent
	m.s.eventually("an event arrives", func() error {
		if !m.informer.Status().LastEvent.After(before) {
			return errNone
		}
		return nil
	})
}

// failing waits until the informer's last error is a wanted error.
func (m *mirror[T]) failing(wanted func(error) bool) error {
	m.s.t.Helper()
	var last error
	m.s.eventually("the error is reported", func() error {
		last = m.informer.Status().LastError
		if last == nil || !wanted(last) {
			return fmt.Errorf("the last error is another one: %w", errorOr(last))
		}
		return nil
	})
	return last
}

func errorOr(err error) error {
	if err == nil {
		return errNone
	}
	return err
}

// saw returns the last reported event of a type, and the number of such events.
func saw[E any, T informer.Object](m *mirror[T]) (last E, count int) {
	m.mu.Lock()
	defer m.mu.Unlock()

	for _, e := range m.events {
		if one, ok := e.(E); ok {
			last = one
			count++
		}
	}
	return last, count
}

func (m *mirror[T]) counts() (lists, streams, watches, relists int) {
	r := &m.requests
	return int(r.Lists.Load()), int(r.Streams.Load()), int(r.Watches.Load()), m.informer.Status().Relists
}

// story returns the last reported events, for a failed test.
func (m *mirror[T]) story() string {
	m.mu.Lock()
	defer m.mu.Unlock()

	text := ""
	for _, e := range m.events[max(0, len(m.events)-40):] {
		text += fmt.Sprintf("%T %+v\n", e, e)
	}
	return text
}

func pointers[E any](items []E) []*E {
	all := make([]*E, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	return all
}

// settle waits until the cache equals the server's objects, verifies it, and adds the scenario to the
// table. No writes may be in progress.
func (m *mirror[T]) settle() {
	m.s.t.Helper()
	m.s.row(m.converge())
}

// converge is like settle, without the table. It returns the time since heal.
func (m *mirror[T]) converge() time.Duration {
	t := m.s.t
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("status: %+v\nevents:\n%s", m.informer.Status(), m.story())
		}
	}()
	var truth map[indexer.Key]T
	m.s.eventually("the server's list", func() error {
		all, err := m.list(m.s.ctx)
		truth = byKey(all)
		return err
	})
	m.s.eventually("the cache equals the server's state", func() error { return m.behind(truth) })
	took := time.Since(m.s.healed)
	m.s.eventually("the handlers' views equal the cache", m.viewsDiffer)
	m.verify(truth)
	return took
}
