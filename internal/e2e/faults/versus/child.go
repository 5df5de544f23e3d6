package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// task is what a measured process runs.
type task struct {
	Tidemark bool
	Lists    bool // LIST, and not WatchList
	Skip     bool // what tidemark holds is not decoded
	Handlers int
	Split    int // that many informers, one for each namespace, instead of one

	Host, Token, CAFile string
}

// order is what a measured process does next: it starts to measure, or it tells
// what it measured once it has seen the pods at a round.
type order struct {
	Begin bool
	Round string // of the annotation to wait for; empty for the first sync
	Pods  int    // how many have it
	Total int    // how many pods there are
	Calls int    // how many calls of handlers there have been since Begin, at least
}

// sample is what was measured.
type sample struct {
	Wall, CPU  time.Duration
	Peak, Heap uint64
	Calls      int64
	// Sorted: since updates were written, and since their bytes came.
	Latencies, Own []time.Duration
	Error          string
}

const (
	roundAnnotation = "round"
	sentAnnotation  = "sent" // when it was sent, in nanoseconds
)

// child is a measured process at work.
type child struct {
	arrival   arrival
	informers []cache.SharedIndexInformer
	watchers  []*watcher
	calls     atomic.Int64
	objects   atomic.Int64 // that the first handlers know of
	began     time.Time
	cpu       time.Duration

	mu      sync.Mutex
	rounds  map[string]map[string]bool // pods that the first handlers have seen, by round
	changed chan struct{}              // has a token when something was seen
}

// watcher is a handler that notes when it was told what.
type watcher struct {
	child *child
	first bool // of its informer

	mu             sync.Mutex
	latencies, own []time.Duration
}

// serve is the measured process: it takes orders until there are no more.
func serve(ctx context.Context, text string, in io.Reader, out io.Writer) error {
	klog.SetLogger(klog.Logger{}) // it loses its server on purpose
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	c := &child{rounds: map[string]map[string]bool{}, changed: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := answers.Encode(c.obey(ctx, t, o)); err != nil {
			return err
		}
	}
}

func (c *child) obey(ctx context.Context, t task, o order) sample {
	if o.Begin {
		c.begin()
		return sample{}
	}
	if c.informers == nil {
		if err := c.start(ctx, t); err != nil {
			return sample{Error: err.Error()}
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 3*time.Minute, fmt.Errorf("it takes more than 3 minutes"))
	defer cancel()
	for !c.done(o) {
		select {
		case <-c.changed:
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return sample{Error: context.Cause(ctx).Error()}
		}
	}
	s := c.measured()
	if n := c.stored(); n != o.Total {
		s.Error = fmt.Sprintf("there are %d objects in the stores, not %d", n, o.Total)
	}
	return s
}

// stored counts the objects in the stores. It is not for what is measured: the
// keys that it asks for are strings that tidemark has to make.
func (c *child) stored() int {
	n := 0
	for _, i := range c.informers {
		n += len(i.GetStore().ListKeys())
	}
	return n
}

// begin starts a section: what was before counts no more.
func (c *child) begin() {
	runtime.GC()
	runtime.GC()
	for _, w := range c.watchers {
		w.mu.Lock()
		w.latencies, w.own = nil, nil
		w.mu.Unlock()
	}
	c.calls.Store(0)
	resetPeak()
	c.began, c.cpu = time.Now(), cpuTime()
}

func (c *child) measured() sample {
	s := sample{Wall: time.Since(c.began), CPU: cpuTime() - c.cpu, Peak: peak(), Calls: c.calls.Load()}
	for _, w := range c.watchers {
		w.mu.Lock()
		s.Latencies, s.Own = append(s.Latencies, w.latencies...), append(s.Own, w.own...)
		w.mu.Unlock()
	}
	slices.Sort(s.Latencies)
	slices.Sort(s.Own)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.Heap = m.HeapAlloc
	runtime.KeepAlive(c)
	return s
}

// done tells whether what an order waits for has been seen. It is asked often,
// and so costs next to nothing.
func (c *child) done(o order) bool {
	for _, i := range c.informers {
		if !i.HasSynced() {
			return false
		}
	}
	if c.objects.Load() != int64(o.Total) || c.calls.Load() < int64(o.Calls) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return o.Round == "" || len(c.rounds[o.Round]) >= o.Pods
}

// start makes the informers and runs them.
func (c *child) start(ctx context.Context, t task) error {
	config := &rest.Config{Host: t.Host, BearerToken: t.Token, TLSClientConfig: rest.TLSClientConfig{CAFile: t.CAFile}, QPS: -1}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = config.ContentType
	config.Wrap(c.arrival.wrap)
	if t.Tidemark && t.Skip {
		config.Wrap(reflector.SkipUnchanged)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for i := range max(t.Split, 1) {
		namespace := metav1.NamespaceAll
		if t.Split > 0 {
			namespace = harness.Namespace(i)
		}
		informer := podInformer(t.Tidemark, client, namespace)
		for h := range t.Handlers {
			w := &watcher{child: c, first: h == 0}
			if _, err := informer.AddEventHandler(w.handler()); err != nil {
				return err
			}
			c.watchers = append(c.watchers, w)
		}
		c.informers = append(c.informers, informer)
	}
	for _, i := range c.informers {
		go i.RunWithContext(ctx)
	}
	return nil
}

// podInformer takes the informer out of each one's factory, as users do.
func podInformer(tidemark bool, client kubernetes.Interface, namespace string) cache.SharedIndexInformer {
	var f informers.SharedInformerFactory
	if tidemark {
		f = factory.NewFilteredSharedInformerFactory(client, 0, namespace, nil)
	} else {
		f = informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	}
	return f.Core().V1().Pods().Informer()
}

// handler counts the calls and, if it is the first, the objects.
func (w *watcher) handler() cache.ResourceEventHandler {
	count := func(by int64) {
		w.child.calls.Add(1)
		if w.first {
			w.child.objects.Add(by)
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(any, bool) { count(1) },
		UpdateFunc: func(old, obj any) { w.updated(time.Now(), old.(*corev1.Pod), obj.(*corev1.Pod)) },
		DeleteFunc: func(any) { count(-1) },
	}
}

func (w *watcher) updated(now time.Time, old, p *corev1.Pod) {
	sent := p.Annotations[sentAnnotation]
	// After a relist, client-go tells of updates long ago once more.
	if nanos, err := strconv.ParseInt(sent, 10, 64); err == nil && sent != old.Annotations[sentAnnotation] {
		own := w.child.arrival.since(now)
		w.mu.Lock()
		w.latencies, w.own = append(w.latencies, now.Sub(time.Unix(0, nanos))), append(w.own, own)
		w.mu.Unlock()
	}
	if w.first {
		w.child.saw(p)
	}
	w.child.calls.Add(1)
}

// saw notes the round of a pod.
func (c *child) saw(p *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if round := p.Annotations[roundAnnotation]; round != "" {
		if c.rounds[round] == nil {
			c.rounds[round] = map[string]bool{}
		}
		c.rounds[round][p.Namespace+"/"+p.Name] = true
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}
