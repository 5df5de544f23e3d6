package versus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/internal/process"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// task says what a measured process runs.
type task struct {
	Tidemark  bool
	Informers subject
	Fields    fields
	Storage   storage
	Keys      bool // tidemark's handlers get keys instead of objects
	Lists     bool // LIST instead of WatchList
	Wired     bool // tidemark decodes the server's answers for every client
	Handlers  int  // the number of handlers per informer

	Shard string // tidemark's share of the pods, such as 0/4; empty for everything

	Host, Token, CAFile string
	Profile             string // the prefix of profile names; empty for no profiles
}

// order is a request to a measured process: to begin a measurement, or to answer with a sample when the
// awaited state has arrived.
type order struct {
	Begin bool
	Round string // the annotation to wait for; empty for the first sync
	Pods  int    // the number of pods with it
	Total int    // the number of objects
	Calls int    // the minimum number of handler calls since Begin
}

// glance returns the interval for checking whether the order is done.
func (o order) glance() time.Duration {
	if o.Round == "" {
		return glance
	}
	return rareGlance
}

// sample is the measurement of a section.
type sample struct {
	Wall, CPU  time.Duration
	Peak, Heap uint64
	Calls      int64
	Received   int64  // bytes from the server, encrypted
	Foreign    uint64 // objects outside of the share that arrived
	// The sorted times since an update was written, and since its bytes arrived.
	Latencies, Own []time.Duration
	Error          string
}

// child is a running measured process.
type child struct {
	task
	arrival   arrival
	informers []*watched
	watchers  []*watcher
	calls     atomic.Int64
	began     time.Time
	cpu       time.Duration
	received  int64

	mu      sync.Mutex
	rounds  map[string]map[string]bool // the pods that first handlers have seen, by round
	changed chan struct{}              // gets a token with each change of rounds
}

var errTooLong = errors.New("it takes more than 5 minutes")

const (
	// patience is the maximum time of an order.
	patience = 5 * time.Minute
	// glance is the interval for checking whether the informers have synced. rareGlance is the interval
	// for orders whose end the handlers report. Each check costs measured CPU time: with 5 ms it was 200
	// ms in the 9 s in which a relist waits for its server, which is a quarter of tidemark's CPU time.
	glance     = 50 * time.Millisecond
	rareGlance = 500 * time.Millisecond
)

// serve runs a measured process. It answers orders until its input ends.
func serve(ctx context.Context, text string, in io.Reader, out io.Writer) error {
	klog.SetLogger(klog.Logger{}) // the informers lose their server on purpose
	c := &child{rounds: map[string]map[string]bool{}, changed: make(chan struct{}, 1)}
	if err := json.Unmarshal([]byte(text), &c.task); err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	return process.Serve(ctx, in, func(ctx context.Context, o order) error {
		s, err := c.obey(ctx, o)
		if err != nil {
			s.Error = err.Error()
		}
		return answers.Encode(s)
	})
}

func (c *child) obey(ctx context.Context, o order) (sample, error) {
	if o.Begin {
		return sample{}, c.begin()
	}
	if c.informers == nil {
		if err := c.start(ctx); err != nil {
			return sample{}, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errTooLong)
	defer cancel()
	ticker := time.NewTicker(o.glance())
	defer ticker.Stop()
	for !c.done(o) {
		select {
		case <-c.changed:
		case <-ticker.C:
		case <-ctx.Done():
			return sample{}, context.Cause(ctx)
		}
	}
	s, err := c.measured()
	if err != nil {
		return s, err
	}
	return s, c.verify(o)
}

// begin begins a section.
func (c *child) begin() error {
	runtime.GC()
	runtime.GC()
	for _, w := range c.watchers {
		w.mu.Lock()
		w.latencies, w.own = nil, nil
		w.mu.Unlock()
	}
	c.calls.Store(0)
	process.ResetPeak()
	if err := c.startProfile(); err != nil {
		return err
	}
	c.began, c.cpu, c.received = time.Now(), process.CPU(), c.arrival.bytes.Load()
	return nil
}

func (c *child) measured() (sample, error) {
	s := sample{Wall: time.Since(c.began), CPU: process.CPU() - c.cpu, Peak: process.PeakRSS(), Calls: c.calls.Load(), Received: c.arrival.bytes.Load() - c.received}
	if c.Profile != "" {
		pprof.StopCPUProfile()
	}
	for _, w := range c.watchers {
		w.mu.Lock()
		s.Latencies, s.Own = append(s.Latencies, w.latencies...), append(s.Own, w.own...)
		w.mu.Unlock()
	}
	for _, w := range c.informers {
		if ours, ok := informer.SharedOf(w.informer); ok {
			s.Foreign += ours.Status().Shard.Foreign
		}
	}
	slices.Sort(s.Latencies)
	slices.Sort(s.Own)
	s.Heap = process.Heap()
	runtime.KeepAlive(c)
	return s, c.writeHeapProfile()
}

// startProfile starts the CPU profile of a section. It replaces that of the previous section.
func (c *child) startProfile() error {
	if c.Profile == "" {
		return nil
	}
	pprof.StopCPUProfile()
	f, err := os.Create(c.Profile + ".cpu.pprof")
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

// writeHeapProfile writes a profile of the live heap and of all allocations of the process.
func (c *child) writeHeapProfile() error {
	if c.Profile == "" {
		return nil
	}
	f, err := os.Create(c.Profile + ".heap.pprof")
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

// verify compares the stores with the order after the measurement.
func (c *child) verify(o order) error {
	n := 0
	for _, w := range c.informers {
		n += len(w.informer.GetStore().ListKeys())
	}
	if n != o.Total {
		return fmt.Errorf("the stores have %d objects, want %d", n, o.Total)
	}
	if c.Informers == managerPods || c.Fields == stripped || c.Fields == dropped && c.Tidemark {
		return c.verifyBare()
	}
	return nil
}

var errKept = errors.New("an object has managedFields")

func (c *child) verifyBare() error {
	for _, w := range c.informers {
		for _, obj := range w.informer.GetStore().List() {
			if len(obj.(metav1.Object).GetManagedFields()) > 0 {
				return errKept
			}
		}
	}
	return nil
}

// done reports whether the awaited state has arrived. It is called often, so it must be cheap.
func (c *child) done(o order) bool {
	objects, calls := int64(0), int64(o.Calls)
	for _, w := range c.informers {
		if !w.informer.HasSynced() {
			return false
		}
		objects += w.objects.Load()
		if o.Round == "" {
			calls += w.objects.Load() * int64(w.handlers) // each handler gets each object
		}
	}
	if objects != int64(o.Total) || c.calls.Load() < calls {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return o.Round == "" || len(c.rounds[o.Round]) >= o.Pods
}

// start makes and runs the informers with the default client configuration.
func (c *child) start(ctx context.Context) (err error) {
	config := &rest.Config{Host: c.Host, BearerToken: c.Token, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}, QPS: -1}
	config.Dial = c.arrival.dial
	if c.informers, err = c.task.informers(config); err != nil {
		return err
	}
	for _, w := range c.informers {
		for h := range w.handlers {
			watcher := &watcher{child: c, of: w, first: h == 0}
			if err := watcher.add(); err != nil {
				return err
			}
			c.watchers = append(c.watchers, watcher)
		}
	}
	for _, w := range c.informers {
		run := w.informer.RunWithContext
		if w.run != nil {
			run = w.run
		}
		go run(ctx)
	}
	return nil
}

// saw records the round of an object.
func (c *child) saw(obj metav1.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if round := obj.GetAnnotations()[roundAnnotation]; round != "" {
		if c.rounds[round] == nil {
			c.rounds[round] = map[string]bool{}
		}
		c.rounds[round][obj.GetNamespace()+"/"+obj.GetName()] = true
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// A measured process, here a goroutine, answers when the handlers have the whole state.
func TestChild(t *testing.T) {
	server := informertest.New(informertest.Options{})
	require.NoError(t, server.Start())
	t.Cleanup(server.Close)
	made := cluster.New(seed, 20)
	for i := range made.Pods() {
		pod := made.Pod(i)
		pod.UID = "" // made by the server
		require.NoError(t, server.Create(t.Context(), pod))
	}
	for _, of := range []struct {
		tidemark bool
		storage  storage
	}{{false, decoded}, {true, decoded}, {true, packed}} {
		for _, fields := range []fields{kept, stripped, dropped} {
			t.Run(fmt.Sprint(of, fields), func(t *testing.T) {
				task := task{Tidemark: of.tidemark, Storage: of.storage, Fields: fields, Handlers: 3, Host: server.ClientConfig().Host, Profile: filepath.Join(t.TempDir(), "of")}
				ask := runChild(t, task)

				require.Empty(t, ask(order{Begin: true}).Error)
				s := ask(order{Total: made.Pods()})

				require.Empty(t, s.Error)
				require.EqualValues(t, 3*made.Pods(), s.Calls)
				require.NotZero(t, s.Heap)
				require.FileExists(t, task.Profile+".cpu.pprof")
				require.FileExists(t, task.Profile+".heap.pprof")

				require.Empty(t, ask(order{Begin: true}).Error)
				changed := made.Pod(7)
				changed.UID = ""
				changed.Annotations = map[string]string{roundAnnotation: t.Name(), sentAnnotation: fmt.Sprint(time.Now().UnixNano())}
				require.NoError(t, server.Update(t.Context(), changed))

				s = ask(order{Round: t.Name(), Pods: 1, Calls: 3, Total: made.Pods()})

				require.Empty(t, s.Error)
				require.Len(t, s.Latencies, 3)
				require.Len(t, s.Own, 3)
			})
		}
	}
}

// runChild runs a measured process on a goroutine. It returns a function that sends orders to it.
func runChild(t *testing.T, of task) (ask func(order) sample) {
	text, err := json.Marshal(of)
	require.NoError(t, err)
	in, orders := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(t.Context(), string(text), in, out) }()
	t.Cleanup(func() {
		require.NoError(t, orders.Close())
		require.NoError(t, <-ended)
	})
	read := json.NewDecoder(answers)
	return func(o order) (s sample) {
		require.NoError(t, json.NewEncoder(orders).Encode(o))
		require.NoError(t, read.Decode(&s))
		return s
	}
}
