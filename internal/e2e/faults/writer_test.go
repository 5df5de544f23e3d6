package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// kindWriter writes objects of one kind through a client. After each write it reads them from the cache
// of the same client. Several goroutines share its objects.
type kindWriter[T informer.Object] struct {
	*mirror[T]
	kind  kind[T]
	own   kindClient[T] // connected through the gateway
	admin kindClient[T] // connected directly to the kube-apiserver
	names []string
	line  bool // the client's config has OwnWrites

	// unchecked means that the server's history has gone back, and the cache does not know yet.
	unchecked atomic.Bool
	tally     tally
}

// tally counts a writer's writes.
type tally struct {
	// made are the answered writes. conflicts are the writes that were refused because the cache was late
	// or another writer was faster. lost are the writes without an answer.
	made, conflicts, lost atomic.Int64
	// wrong are the reads that are older than the preceding write. unsure are the writes whose answers do
	// not say what has happened. excused are the writes that the cache has not shown, but has counted.
	wrong, unsure, excused atomic.Int64

	mu    sync.Mutex
	sorts map[string]int // the number of successful writes of each sort
}

func (t *tally) add(sort string) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.sorts == nil {
		t.sorts = map[string]int{}
	}
	t.sorts[sort]++
}

// worker is a goroutine of a writer.
type worker[T informer.Object] struct {
	*kindWriter[T]
	random *rand.Rand
	last   map[string]held // the worker's last read of each object
	dead   map[types.UID]bool
}

func (w *kindWriter[T]) worker(number int) *worker[T] {
	return &worker[T]{kindWriter: w, random: rand.New(rand.NewPCG(11, uint64(number))), last: map[string]held{}, dead: map[types.UID]bool{}}
}

// work makes n writes. A write without an answer is repeated after a while.
func (w *worker[T]) work(ctx context.Context, n int) {
	for made := 0; made < n && ctx.Err() == nil; {
		if w.once(ctx) {
			made++
			continue
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// once makes one write of a sort that the object allows, and reads the cache. It returns false if there
// was no answer.
func (w *worker[T]) once(ctx context.Context) (answered bool) {
	name := w.names[w.random.IntN(len(w.names))]
	stored, exists := w.informer.Indexer().Get(w.key(name))
	before := heldOf(stored, exists)
	sort, unshown, unchecked := w.pick(stored, exists), w.unshown(), w.unchecked.Load()

	var a answer
	err := sort.write(witnessed(ctx, &a), attempt[T]{w, name, stored})
	switch {
	case a.code == 0, a.code >= http.StatusInternalServerError:
		w.tally.lost.Add(1)
		return false
	case a.code == http.StatusConflict:
		w.tally.conflicts.Add(1)
	case err == nil:
		w.tally.add(sort.name)
	case !apierrors.IsNotFound(err):
		w.s.t.Errorf("%s: %s of %s: %v", w.kind.name, sort.name, name, err)
	}
	w.tally.made.Add(1)
	of := name
	if a.Name != "" { // the server may have generated it
		name = a.Name
	}
	if unchecked || w.unchecked.Load() {
		clear(w.last)
		clear(w.dead)
		return true
	}
	if wrong := w.reads(ctx, name, of, w.promised(sort, &a, before)); wrong != nil {
		w.misread(fmt.Errorf("%s of %s, answered with %d %s %s@%s after %v, before %+v: %w", sort.name, name, a.code, a.Kind, a.UID, a.ResourceVersion, a.passed.Sub(a.came), before, wrong), unshown)
	}
	return true
}

// promised returns what a write promises for the next read.
func (w *worker[T]) promised(sort sort[T], a *answer, before held) promise {
	p := a.promises(w.kind.name, before)
	if sort.dry && p.kind != nothing {
		p = promise{untouched, before.uid, before.version}
	}
	if p.kind == unsure {
		w.tally.unsure.Add(1)
	}
	return p
}

// misread counts a read that is too old. With OwnWrites it is an error, unless the cache has counted a
// write that it could not show.
func (w *worker[T]) misread(wrong error, unshown uint64) {
	switch {
	case w.unshown() > unshown:
		w.tally.excused.Add(1)
		w.s.t.Logf("%s: not shown: %v", w.kind.name, wrong)
	case w.line:
		w.s.t.Errorf("%s: %v", w.kind.name, wrong)
		fallthrough
	default:
		w.tally.wrong.Add(1)
	}
}

// unshown returns the number of writes that the cache has counted as not shown.
func (w *kindWriter[T]) unshown() uint64 {
	o := w.informer.Status().OwnWrites
	return o.Waiting + o.Doubtful
}

func (w *kindWriter[T]) key(name string) indexer.Key {
	return indexer.Key{Namespace: w.kind.namespace, Name: name}
}

func heldOf[T informer.Object](obj T, ok bool) held {
	if !ok {
		return held{}
	}
	return held{obj.GetUID(), obj.GetResourceVersion(), len(obj.GetFinalizers()) > 0}
}

// reads reads an object in each way. It returns an error if a read does not show what was promised, or
// is older than the previous read. The object has a label with the name that it was based on.
func (w *worker[T]) reads(ctx context.Context, name, of string, p promise) (problem error) {
	x := w.informer.Indexer()
	got, ok := x.Get(w.key(name))
	listed, err := w.informer.Lister().Namespace(w.kind.namespace).List(labels.SelectorFromSet(labels.Set{"object": of}))
	if err != nil {
		return err
	}
	named := func(all []T) []T {
		return slices.DeleteFunc(all, func(obj T) bool { return obj.GetName() != name })
	}
	var rounds []T
	for round := range rounds5 {
		rounds = slices.AppendSeq(rounds, x.By("round", fmt.Sprint(round)))
	}
	now := heldOf(got, ok)
	problem = errors.Join(
		w.goesBack(name, now),
		w.judged(ctx, "Get", name, p, slices.Repeat([]T{got}, count(ok)), true),
		w.judged(ctx, "List", name, p, named(listed), true),
		w.judged(ctx, "the index of names", name, p, named(slices.Collect(x.By("object", of))), true),
		w.judged(ctx, "the index of rounds", name, p, named(rounds), false), // its round may have changed between two reads
	)
	w.last[name] = now
	if p.kind == gone && problem == nil {
		w.dead[p.uid] = true
	}
	return problem
}

func count(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

// goesBack returns an error if a worker has read something newer of an object before.
func (w *worker[T]) goesBack(name string, now held) error {
	last := w.last[name]
	switch {
	case now.uid != "" && w.dead[now.uid]:
		return fmt.Errorf("%s@%s is back after its deletion", now.uid, now.version)
	case now.uid != "" && last.uid != "" && older(now.version, last.version):
		return fmt.Errorf("%s@%s was read after %s@%s", now.uid, now.version, last.uid, last.version)
	}
	return nil
}

// judged returns an error if the result of a read is older than what was promised. complete means that
// an object that is not found is missing.
func (w *worker[T]) judged(ctx context.Context, read, name string, p promise, found []T, complete bool) error {
	for _, obj := range found {
		uid, version := obj.GetUID(), obj.GetResourceVersion()
		switch {
		case isDry(obj):
			return fmt.Errorf("%s shows a dry run", read)
		case p.kind == gone && uid == p.uid:
			return fmt.Errorf("%s shows %s@%s, which is deleted", read, uid, version)
		case (p.kind == shown || p.kind == untouched) && older(version, p.version):
			return fmt.Errorf("%s shows %s@%s, but %s@%s was answered", read, uid, version, p.uid, p.version)
		}
	}
	if len(found) > 0 || !complete || p.uid == "" || p.kind != shown && p.kind != untouched {
		return nil
	}
	switch alive, err := w.alive(ctx, name, p.uid); {
	case err != nil:
		return err
	case alive:
		return fmt.Errorf("%s lacks %s@%s", read, p.uid, p.version)
	}
	return nil // another writer has deleted it
}

// alive reports whether the server has an object.
func (w *worker[T]) alive(ctx context.Context, name string, uid types.UID) (bool, error) {
	obj, err := w.admin.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && obj.GetUID() == uid, err
}

// older reports whether a version is older than another one. Every version is newer than "".
func older(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// pick returns a sort of write that the object allows. It prefers sorts that have not succeeded yet,
// because few objects are terminating, and only for a short time.
func (w *worker[T]) pick(stored T, exists bool) sort[T] {
	var state state
	switch {
	case !exists:
		state = absent
	case stored.GetDeletionTimestamp() == nil:
		state = living
	default:
		state = dying
	}
	var all []sort[T]
	for _, s := range w.kind.sorts {
		if s.of == state {
			all = append(all, s)
		}
	}
	w.tally.mu.Lock()
	defer w.tally.mu.Unlock()

	if missing := slices.DeleteFunc(slices.Clone(all), func(s sort[T]) bool { return w.tally.sorts[s.name] > 0 }); len(missing) > 0 {
		all = missing
	}
	return all[w.random.IntN(len(all))]
}

// run makes writes on some goroutines, while another program writes the same objects.
func (w *kindWriter[T]) run(ctx context.Context, workers, writes int) {
	ctx, cancel := context.WithCancel(ctx)
	var disturbing, working sync.WaitGroup
	disturbing.Go(func() { w.disturb(ctx) })
	for i := range workers {
		working.Go(func() { w.worker(i).work(ctx, writes/workers) })
	}
	working.Wait()
	cancel()
	disturbing.Wait()
}

// disturb acts as another program until ctx ends: it changes objects, and sometimes deletes or creates
// one. It does not repeat a failed write.
func (w *kindWriter[T]) disturb(ctx context.Context) {
	random := rand.New(rand.NewPCG(12, 0))
	for n := 0; ctx.Err() == nil; n++ {
		name := w.names[random.IntN(len(w.names))]
		switch random.IntN(16) {
		case 0:
			_ = w.admin.Delete(ctx, name, now)
		case 1:
			_, _ = w.admin.Create(ctx, w.kind.fresh(name), metav1.CreateOptions{})
		default:
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"foreign":"%d"}}}`, n)
			_, _ = w.admin.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// settled waits until the cache is complete, and compares it with the server. If the watch is delayed by
// a minute, each wait takes minutes.
func (w *kindWriter[T]) settled() {
	t := w.s.t
	t.Helper()
	ctx, cancel := context.WithTimeout(w.s.ctx, 3*patience)
	defer cancel()
	require.NoError(t, w.informer.WaitFresh(ctx), w.kind.name)
	found, err := audit.Of(ctx, w.informer.Shared())
	require.NoError(t, err)
	require.Empty(t, found.Differences, w.kind.name)
	require.Zero(t, found.Pending, w.kind.name)
	own := w.informer.Status().OwnWrites
	require.Equal(t, w.line, own.Linked)
	require.Zero(t, own.Pending, w.kind.name)
	w.converge()
}

// distrust disables or enables the checks of reads.
func (w *kindWriter[T]) distrust(yes bool) { w.unchecked.Store(yes) }

// anyOrder allows versions in handlers to go back.
func (w *kindWriter[T]) anyOrder() {
	for _, v := range w.views {
		v.AnyOrder = true
	}
}

// wentBack reports whether the informer has noticed that the server's history has gone back.
func (w *kindWriter[T]) wentBack() bool {
	_, recorded := saw[reflector.HistoryWentBack](w.mirror)
	return recorded > 0
}

// unmade returns the sorts of writes that have never succeeded.
func (w *kindWriter[T]) unmade() (names []string) {
	w.tally.mu.Lock()
	defer w.tally.mu.Unlock()

	for _, s := range w.kind.sorts {
		if w.tally.sorts[s.name] == 0 {
			names = append(names, w.kind.name+": "+s.name)
		}
	}
	return names
}

func (w *kindWriter[T]) counted() (*tally, informer.OwnWrites) {
	return &w.tally, w.informer.Status().OwnWrites
}
