package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// writing is a program that writes config maps and reads them from its cache. Its watch is delayed.
type writing struct {
	*scenario
	client kubernetes.Interface
	cached corelisters.ConfigMapNamespaceLister
	reads  reads

	// For a program on tidemark with OwnWrites; nil for a program on client-go.
	own   *reflector.OwnWrites
	cache *informer.Informer[*corev1.ConfigMap]
}

// quietNamespace is the namespace of the config maps.
const quietNamespace = "quiet"

// behind returns a gateway with delayed watches.
func (s *scenario) behind(late time.Duration) *harness.Gateway {
	gateway, err := harness.NewGateway(s.connect(s.cluster.Config()))
	s.must(err)
	s.t.Cleanup(gateway.Close)
	if late > 0 {
		gateway.Break(harness.DelayWatches(late))
	}
	return gateway
}

// createNamespace creates a namespace.
func (s *scenario) createNamespace(name string) {
	_, err := s.admin.CoreV1().Namespaces().Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	s.must(err)
}

// write starts a program on tidemark with OwnWrites.
func (s *scenario) write(late time.Duration) *writing {
	w := &writing{scenario: s, own: reflector.NewOwnWrites()}
	config := s.connect(s.behind(late).Config())
	config.Wrap(w.own.Wire)
	w.client = kubernetes.NewForConfigOrDie(config)
	w.cache = informer.New(configMaps(w.client), informer.Options[*corev1.ConfigMap]{})
	wait, err := w.cache.Start(s.ctx)
	s.must(err)
	s.t.Cleanup(func() { require.NoError(s.t, wait()) })
	s.must(w.cache.WaitSynced(s.ctx))
	w.cached = w.cache.Lister().Namespace(quietNamespace)
	return w
}

// writeOnClientgo starts a program on client-go.
func (s *scenario) writeOnClientgo(late time.Duration) *writing {
	w := &writing{scenario: s, client: kubernetes.NewForConfigOrDie(s.connect(s.behind(late).Config()))}
	factory := informers.NewSharedInformerFactoryWithOptions(w.client, 0, informers.WithNamespace(quietNamespace))
	w.cached = factory.Core().V1().ConfigMaps().Lister().ConfigMaps(quietNamespace)
	factory.Start(s.ctx.Done())
	s.t.Cleanup(factory.Shutdown)
	factory.WaitForCacheSync(s.ctx.Done())
	return w
}

// createUntil creates config maps until the cache lists n of them. It returns the number of created
// config maps.
func (w *writing) createUntil(app string, n int) (created int) {
	selected := labels.SelectorFromSet(labels.Set{"app": app})
	for {
		found, err := w.cached.List(selected)
		w.must(err)
		if len(found) >= n {
			return created
		}
		_, err = w.client.CoreV1().ConfigMaps(quietNamespace).Create(w.ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: app + "-", Labels: labels.Set{"app": app}},
		}, metav1.CreateOptions{})
		w.must(err)
		created++
	}
}

// reads counts the reads after writes. wrong reads show an older state. excused reads were correct only
// after WaitFresh, because the answer did not prove the deletion.
type reads struct{ all, wrong, excused atomic.Int64 }

// count counts a read. It returns an error if the read is wrong.
func (r *reads) count(wrong error) error {
	r.all.Add(1)
	if wrong != nil {
		r.wrong.Add(1)
	}
	return wrong
}

// String describes the counts for the table's note.
func (r *reads) String() string {
	return fmt.Sprintf("%d of %d reads wrong, %d excused", r.wrong.Load(), r.all.Load(), r.excused.Load())
}

// errStale is the error of a read that shows an older state than the answer to a write.
var errStale = errors.New("the cache is stale")

// stale returns an error if an object that was read is older than the answer to a write. nil means that
// there is no object.
func stale(name string, read, answer *corev1.ConfigMap) error {
	switch {
	case answer == nil && read != nil:
		return fmt.Errorf("%w: %s is deleted, but the cache has version %s", errStale, name, read.ResourceVersion)
	case answer == nil:
		return nil
	case read == nil:
		return fmt.Errorf("%w: %s is missing", errStale, name)
	}
	order, err := resourceversion.CompareResourceVersion(read.ResourceVersion, answer.ResourceVersion)
	if err == nil && order < 0 {
		err = fmt.Errorf("%w: %s was written at version %s, but the cache has %s", errStale, name, answer.ResourceVersion, read.ResourceVersion)
	}
	return err
}

// stored returns the config map in the cache, or nil.
func (w *writing) stored(name string) *corev1.ConfigMap {
	found, err := w.cached.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	w.must(err)
	return found
}

// shows checks that a read of the cache is not older than the answer to a write. nil stands for a
// deletion. An update that removes the last finalizer is answered with the version that it was based on.
// If another writer has changed the object in between, the server deletes that version, too, and the
// answer proves nothing. Then WaitFresh has to show it.
func (w *writing) shows(name string, answer *corev1.ConfigMap) error {
	err := stale(name, w.stored(name), answer)
	if err == nil || w.own == nil || answer != nil {
		return w.reads.count(err)
	}
	w.must(w.cache.WaitFresh(w.ctx))
	if err := stale(name, w.stored(name), answer); err != nil {
		return w.reads.count(err)
	}
	w.reads.excused.Add(1)
	return w.reads.count(nil)
}

// writeOnce makes one write of any sort to a config map of the worker, and checks the cache.
func (w *writing) writeOnce(ctx context.Context, random *rand.Rand, name string) error {
	maps := w.client.CoreV1().ConfigMaps(quietNamespace)
	stored := w.stored(name)
	var answer *corev1.ConfigMap
	var err error
	switch what := random.IntN(10); {
	case stored == nil:
		fresh := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if random.IntN(2) == 0 {
			fresh.Finalizers = []string{"example.com/wait"}
		}
		answer, err = maps.Create(ctx, fresh, metav1.CreateOptions{})
	case stored.DeletionTimestamp != nil: // release it
		last := stored.DeepCopy()
		last.Finalizers = nil
		if _, err = maps.Update(ctx, last, metav1.UpdateOptions{}); err == nil {
			return w.shows(name, nil)
		}
	case what == 0:
		if err = maps.Delete(ctx, name, metav1.DeleteOptions{}); err == nil && len(stored.Finalizers) == 0 {
			return w.shows(name, nil)
		}
	case what == 1:
		err = maps.Delete(ctx, name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		answer = stored
	case what < 5:
		next := stored.DeepCopy()
		next.Data = map[string]string{"n": fmt.Sprint(random.IntN(5))}
		answer, err = maps.Update(ctx, next, metav1.UpdateOptions{})
	default: // often a write that changes nothing
		patch := fmt.Sprintf(`{"data":{"n":"%d"}}`, random.IntN(3))
		answer, err = maps.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return nil // a foreign writer was faster
	}
	if err != nil || answer == nil {
		return err
	}
	return w.shows(name, answer)
}

// writeMuch writes a few config maps on many goroutines, while foreign writers change them. A program on
// client-go reads states that are older than its writes. With OwnWrites, that is an error.
func (w *writing) writeMuch(late time.Duration) {
	var working sync.WaitGroup
	defer working.Wait()
	for worker := range 8 {
		working.Go(func() {
			random := rand.New(rand.NewPCG(uint64(late), uint64(worker)))
			for n := range size(150, 3_000) {
				err := w.writeOnce(w.ctx, random, fmt.Sprintf("worker-%d-%d", worker, n%5))
				if err != nil && (w.own != nil || !errors.Is(err, errStale)) {
					w.t.Error(late, err)
				}
			}
		})
		working.Go(func() {
			for n := range size(40, 800) {
				patch := fmt.Sprintf(`{"metadata":{"annotations":{"foreign":"%d"}}}`, n)
				_, err := w.admin.CoreV1().ConfigMaps(quietNamespace).Patch(w.ctx, fmt.Sprintf("worker-%d-%d", worker, n%5), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
				if err != nil && !apierrors.IsNotFound(err) {
					w.t.Error(err)
				}
			}
		})
	}
}

// A program reads its own writes, however late its watch is. client-go runs for comparison.
func TestScenario_OwnWrites(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createNamespace(quietNamespace)
	for _, late := range []time.Duration{0, 50 * time.Millisecond, time.Second} {
		theirs := s.writeOnClientgo(late)
		extra := theirs.createUntil(fmt.Sprint("client-go-", late.Milliseconds()), 20) - 20
		theirs.writeMuch(late)
		s.note += fmt.Sprintf("%v late: client-go: %d extra, %v; ", late, extra, &theirs.reads)

		w := s.write(late)
		created := w.createUntil(fmt.Sprint("late-", late.Milliseconds()), 20)
		require.Equal(t, 20, created, "with a watch delayed by %v", late)
		w.writeMuch(late)
		s.must(w.cache.WaitFresh(s.ctx))
		a, err := audit.Of(s.ctx, w.cache.Shared())
		s.must(err)
		require.Empty(t, a.Differences)
		status := w.cache.Status().OwnWrites
		require.True(t, status.Linked)
		require.Zero(t, status.Ghosts)
		require.LessOrEqual(t, uint64(w.reads.excused.Load()), status.Doubtful, "each excused read has a doubtful write") //nolint:gosec // not negative
		s.note += fmt.Sprintf("own writes: 0 extra, %v, %d shown, %d doubtful; ", &w.reads, status.Shown, status.Doubtful)
	}
	t.Log(s.note)
	s.row(0)
}

// A controller that writes the status of the objects that it sees reconciles once per foreign change,
// and not for its own changes, if the watch is later than the answers.
func TestScenario_OwnWritesWakeNoReconciler(t *testing.T) {
	s := begin(t, harness.Options{})
	s.createNamespace(quietNamespace)
	w := s.write(100 * time.Millisecond)
	var reconciles atomic.Int64
	seen := make(chan string, 1)
	_, err := w.cache.Handle(informer.Funcs[*corev1.ConfigMap]{Updated: func(old, now *corev1.ConfigMap) {
		if w.own.Made("", old, now) {
			return
		}
		reconciles.Add(1)
		seen <- now.Annotations["foreign"]
	}}, informer.HandlerOptions{})
	s.must(err)
	maps := w.client.CoreV1().ConfigMaps(quietNamespace)
	_, err = maps.Create(s.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, metav1.CreateOptions{})
	s.must(err)
	changes := size(100, 2_000)
	for n := range changes {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"foreign":"%d"}}}`, n)
		_, err := s.admin.CoreV1().ConfigMaps(quietNamespace).Patch(s.ctx, "one", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		s.must(err)
		require.Equal(t, fmt.Sprint(n), <-seen)
		stored, ok := w.cache.Indexer().Get(indexer.Key{Namespace: quietNamespace, Name: "one"})
		require.True(t, ok)
		next := stored.DeepCopy()
		next.Data = map[string]string{"done": fmt.Sprint(n)}
		_, err = maps.Update(s.ctx, next, metav1.UpdateOptions{})
		s.must(err)
	}
	s.must(w.cache.WaitFresh(s.ctx))
	require.EqualValues(t, changes, reconciles.Load())
	s.note = fmt.Sprintf("%.2f reconciles per foreign change, of %d", float64(reconciles.Load())/float64(changes), changes)
	t.Log(s.note)
	s.row(0)
}
