package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// managed is a controller-runtime manager with delayed watches.
type managed struct {
	*scenario
	manager ctrl.Manager
	own     *reflector.OwnWrites // nil without OwnWrites
}

// managing says how a manager's reads show its writes.
type managing struct {
	line  bool // the program uses OwnWrites and tidemark's informers
	waits bool // reads wait for earlier writes (EnableReadYourWritesConsistency)
}

func (m managing) String() string {
	on := map[bool]string{false: "client-go", true: "own writes"}[m.line]
	if m.waits {
		on += ", waiting"
	}
	return on
}

// manage makes a manager without starting it.
func (s *scenario) manage(how managing, late time.Duration) *managed {
	m := &managed{scenario: s}
	config := s.connect(s.behind(late).Config())
	o := ctrl.Options{
		Scheme:     scheme.Scheme,
		Metrics:    server.Options{BindAddress: "0"}, // disabled
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &how.waits}},
	}
	if how.line {
		m.own = reflector.NewOwnWrites()
		config.Wrap(m.own.Wire)
		o.Cache.NewInformer = informer.ForControllerRuntime
	}
	var err error
	m.manager, err = ctrl.NewManager(config, o)
	s.must(err)
	return m
}

// start runs the manager until the returned function is called.
func (m *managed) start() (stop func()) {
	ctx, cancel := context.WithCancel(m.ctx)
	ended := make(chan error, 1)
	go func() { ended <- m.manager.Start(ctx) }()
	require.True(m.t, m.manager.GetCache().WaitForCacheSync(ctx), "the cache must sync")
	_, err := m.manager.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
	m.must(err)
	return func() {
		cancel()
		m.must(<-ended)
		m.manager.GetHTTPClient().CloseIdleConnections()
	}
}

// createUntil creates config maps until the manager's client lists n of them. It returns the number of
// created config maps.
func (m *managed) createUntil(app string, n int) (created int) {
	c := m.manager.GetClient()
	for {
		var found corev1.ConfigMapList
		m.must(c.List(m.ctx, &found, client.InNamespace(quietNamespace), client.MatchingLabels{"app": app}))
		if len(found.Items) >= n {
			return created
		}
		m.must(c.Create(m.ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: quietNamespace, GenerateName: app + "-", Labels: map[string]string{"app": app}},
		}))
		created++
	}
}

// writeAndRead repeatedly creates, changes and deletes a config map with the same name, and reads it
// after each write. With OwnWrites, a wrong read is an error.
func (m *managed) writeAndRead(name string, rounds int, counted *reads) error {
	c := m.manager.GetClient()
	written := corev1.ConfigMap{}
	for n := range 3 * rounds {
		var err error
		switch n % 3 {
		case 0:
			written = corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: quietNamespace, Name: name, Labels: map[string]string{"name": name}}}
			err = c.Create(m.ctx, &written)
		case 1:
			written.Data = map[string]string{"n": fmt.Sprint(n)}
			err = c.Update(m.ctx, &written)
		case 2:
			err = c.Delete(m.ctx, &written)
		}
		if err == nil {
			err = m.read(&written, n%3 == 2, counted)
		}
		if err != nil && (m.own != nil || !errors.Is(err, errStale)) {
			return fmt.Errorf("write %d of %s: %w", n, name, err)
		}
	}
	return nil
}

// read reads a config map after a write, by name and in a list.
func (m *managed) read(written *corev1.ConfigMap, deleted bool, counted *reads) error {
	c, answer := m.manager.GetClient(), written
	if deleted {
		answer = nil
	}
	got := new(corev1.ConfigMap)
	switch err := c.Get(m.ctx, client.ObjectKeyFromObject(written), got); {
	case apierrors.IsNotFound(err):
		got = nil
	case err != nil:
		return err
	}
	wrong := counted.count(stale(written.Name, got, answer))

	var found corev1.ConfigMapList
	if err := c.List(m.ctx, &found, client.InNamespace(quietNamespace), client.MatchingLabels(written.Labels)); err != nil {
		return err
	}
	got = nil
	if len(found.Items) > 0 {
		got = &found.Items[0]
	}
	return errors.Join(wrong, counted.count(stale(written.Name, got, answer)))
}

// A controller-runtime manager reads its own writes, however late its watch is. With client-go's
// informers its client can wait for the watch at each read. This also works with OwnWrites.
func TestScenario_OwnWritesOfAManager(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	s.createNamespace(quietNamespace)
	for _, how := range []managing{{}, {waits: true}, {line: true}, {line: true, waits: true}} {
		m := s.manage(how, time.Second)
		stop := m.start()
		began := time.Now()
		extra := m.createUntil(fmt.Sprint("app-", how.line, "-", how.waits), 20) - 20
		var counted reads
		var working sync.WaitGroup
		rounds := size(20, 300)
		if how.waits && !how.line {
			rounds = size(3, 20) // each read takes as long as the watch's delay
		}
		for worker := range 8 {
			working.Go(func() {
				if err := m.writeAndRead(fmt.Sprint("worker-", worker), rounds, &counted); err != nil {
					t.Error(how, err)
				}
			})
		}
		working.Wait()
		took := time.Since(began)
		stop()
		s.note += fmt.Sprintf("%v: %d extra, %v, in %v; ", how, extra, &counted, took.Round(time.Millisecond))
		if how.line {
			require.Zero(t, extra, how)
			require.Zero(t, counted.wrong.Load(), how)
		}
	}
	t.Log(s.note)
	s.row(0)
}

// answering is a controller that answers each foreign change of a config map with its own change.
type answering struct {
	*managed
	answered   chan string // the foreign changes
	reconciles atomic.Int64
	last       chan struct{} // closed when the last config map is reconciled
}

// lastMap is the config map that is created at the end, when all earlier changes have been reconciled.
const lastMap = "last"

// writer is the name of the controller, see [reflector.WithWriter].
const writer = "answering"

func (a *answering) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	switch {
	case request.Namespace != quietNamespace: // of the server
		return reconcile.Result{}, nil
	case request.Name == lastMap:
		close(a.last)
		return reconcile.Result{}, nil
	}
	a.reconciles.Add(1)
	var found corev1.ConfigMap
	if err := a.manager.GetClient().Get(ctx, request.NamespacedName, &found); err != nil {
		return reconcile.Result{}, err
	}
	foreign := found.Annotations["foreign"]
	if foreign == "" || foreign == found.Data["done"] {
		return reconcile.Result{}, nil
	}
	found.Data = map[string]string{"done": foreign}
	if err := a.manager.GetClient().Update(reflector.WithWriter(ctx, writer), &found); err != nil {
		return reconcile.Result{}, err
	}
	a.answered <- foreign
	return reconcile.Result{}, nil
}

// foreign returns the predicate that ignores the controller's own updates. Without OwnWrites it ignores
// none.
func (a *answering) foreign() predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return a.own == nil || !a.own.Made(writer, e.ObjectOld, e.ObjectNew)
	}}
}

// reconcilesPerChange runs the controller, and returns the number of reconciles per foreign change, of n
// foreign changes.
func (s *scenario) reconcilesPerChange(how managing, n int) float64 {
	a := &answering{managed: s.manage(how, 100*time.Millisecond), answered: make(chan string, 1), last: make(chan struct{})}
	s.must(ctrl.NewControllerManagedBy(a.manager).For(&corev1.ConfigMap{}).WithEventFilter(a.foreign()).
		WithOptions(ctrlcontroller.Options{MaxConcurrentReconciles: 1}).Complete(a))
	defer a.start()()
	maps := s.admin.CoreV1().ConfigMaps(quietNamespace)
	change := func(i int) string { return fmt.Sprintf(`{"metadata":{"annotations":{"foreign":"%d"}}}`, i) }
	name := "answered-" + fmt.Sprint(how.line)
	for i := range n + 1 {
		var err error
		if i == 0 {
			_, err = maps.Create(s.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"foreign": "0"}}}, metav1.CreateOptions{})
		} else {
			_, err = maps.Patch(s.ctx, name, types.MergePatchType, []byte(change(i)), metav1.PatchOptions{})
		}
		s.must(err)
		require.Equal(s.t, fmt.Sprint(i), <-a.answered)
	}
	_, err := maps.Create(s.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: lastMap}}, metav1.CreateOptions{})
	s.must(err)
	<-a.last
	s.must(maps.Delete(s.ctx, name, metav1.DeleteOptions{}))
	s.must(maps.Delete(s.ctx, lastMap, metav1.DeleteOptions{}))
	return float64(a.reconciles.Load()) / float64(n+1)
}

// A controller-runtime controller whose predicate calls Made reconciles once per foreign change, if the
// watch is later than the answers.
func TestScenario_OwnWritesWakeNoManager(t *testing.T) {
	t.Parallel() // it mostly waits
	s := begin(t, harness.Options{})
	s.createNamespace(quietNamespace)
	changes := size(100, 2_000)
	without, with := s.reconcilesPerChange(managing{}, changes), s.reconcilesPerChange(managing{line: true}, changes)
	s.note = fmt.Sprintf("reconciles per foreign change: client-go %.2f, own writes %.2f", without, with)
	t.Log(s.note)
	require.InDelta(t, 1, with, 1e-9)
	s.row(0)
}
