package sim_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/internal/audit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// play plays the whole world, or until the first violation.
func (w *ownWorld) play() {
	w.runReplicas()
	w.start()
	w.quiet = time.Now()
	for i, s := range w.plan.steps {
		w.trace.step("%d. %v", i, s)
		w.reach("operation", s.op)
		w.do(s)
		w.check()
		if time.Since(w.quiet) > 6*time.Minute && len(w.violations) == 0 { // a fence without a version lasts ten minutes
			w.trace.addLine("a rest")
			w.settle()
		}
		if len(w.violations) > 0 {
			break
		}
	}
	w.end()
}

// check runs the checkers when everything is idle.
func (w *ownWorld) check() {
	synctest.Wait()
	w.expectReturned()
	for synctest.Wait(); w.busy(); synctest.Wait() {
		time.Sleep(20 * time.Millisecond)
	}
	w.scribble()
	for _, c := range ownCheckers {
		for _, what := range c.find(w) {
			w.fault(c.name, "%s", what)
		}
	}
}

// settle releases everything, waits until the store equals the server's state, and compares the two.
func (w *ownWorld) settle() {
	w.flow()
	w.release()
	w.check()
	for lost := w.server.highest; w.doubtful && w.server.version() <= lost; { // then no version of the earlier history is newer
		w.server.bump()
	}
	if len(w.touched) > 0 {
		w.expire()
	}
	for began := time.Now(); time.Since(began) < 14*time.Minute; time.Sleep(5 * time.Second) {
		w.server.Bookmark()
		synctest.Wait()
		if len(w.unsettled()) == 0 && len(w.unshared()) == 0 && w.noticed.Load() == 0 { // the list of a new history delivers every object
			break
		}
	}
	for _, what := range w.unsettled() {
		w.fault("settles", "%s", what)
	}
	for _, what := range w.unshared() {
		w.fault("union", "%s", what)
	}
	w.check() // check the effects of writes by hand and of an earlier history now
	if w.mutant.scribbles {
		for o := range w.indexer.All() {
			o.(kit.APIObject).SetGeneration(77)
		}
	}
	for _, what := range w.frozen.check() {
		w.fault("frozen", "%s", what)
	}
	w.writes = nil
	clear(w.touched)
	clear(w.floors)
	w.doubtful, w.quiet = false, time.Now()
	if len(w.violations) == 0 {
		w.audit()
	}
}

// release lets all held writes continue, one after another.
func (w *ownWorld) release() {
	for _, on := range w.writes {
		if on.held() {
			close(on.released)
			synctest.Wait()
		}
	}
}

// flow lets watches and lists continue.
func (w *ownWorld) flow() {
	w.wire.change(func() {
		clear(w.wire.held)
		clear(w.wire.budget)
		w.wire.slow = false
	})
}

// expire makes the next read a list: the history is compacted, and the watches break.
func (w *ownWorld) expire() {
	w.server.bump()
	w.server.Compact()
	w.wire.breakAll()
	time.Sleep(2 * time.Second)
}

// writeByHand changes or deletes an object in the store, as users of client-go's API may.
func (w *ownWorld) writeByHand(r *rand.Rand) {
	for _, k := range w.server.history.keys() {
		o := w.stored()[k]
		if o == nil || r.IntN(2) == 0 {
			continue
		}
		w.trace.addLine("%s", k)
		w.touched[k] = true
		w.byHand.add(keyOfAny(o))
		if r.IntN(2) == 0 {
			must(w.informer.GetStore().Delete(o))
			return
		}
		changed := o.DeepCopyObject().(kit.APIObject)
		changed.SetAnnotations(map[string]string{markName: "by hand"})
		must(w.informer.GetStore().Update(changed))
		return
	}
}

// wait calls WaitFresh, or its replacement, while nothing is held.
func (w *ownWorld) wait(call func(context.Context) error) {
	if w.doubtful {
		return
	}
	w.flow()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := call(ctx); err != nil {
		w.fault("fresh", "%v", err)
		return
	}
	for _, on := range w.writes {
		if kit.Closed(on.done) && on.at > 0 && on.epoch == len(w.server.past) && !on.early {
			w.mustShow(on, false)
		}
	}
}

// askFresh waits for the newest state. The store must then show everything.
func (w *ownWorld) askFresh() {
	call := w.informer.WaitFresh
	if w.mutant.skipsFresh {
		call = func(context.Context) error { return nil }
	}
	w.wait(call)
	if !w.doubtful && len(w.touched) == 0 && len(w.violations) == 0 {
		for _, what := range w.unsettled() {
			if !strings.Contains(what, "pending") {
				w.fault("fresh", "%s", what)
			}
		}
	}
}

// audit compares the store with the server. It must find no differences.
func (w *ownWorld) audit() {
	if !kit.Closed(w.synced()) || w.doubtful || w.partial() || len(w.touched) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	found, err := audit.Of(ctx, w.informer)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return // the informer is behind a compaction
	}
	if err != nil || len(found.Differences) > 0 || w.mutant.auditsPending {
		w.fault("audit", "%+v, %v", found, err)
	}
}

// setBack brings the server back without its last n writes. If the informer has read more than is left,
// it has to notice. It can notice only if it has read everything.
func (w *ownWorld) setBack(n int) {
	point := len(w.server.writes) - n
	if point < 0 || !kit.Closed(w.synced()) || w.doubtful {
		return
	}
	reads := 0
	reached, _ := w.wire.progress()
	for _, r := range reached {
		reads = max(reads, r)
	}
	if 1+point < reads {
		w.settle()
		point = len(w.server.writes) - n
	}
	w.reach("set back", 1+point < reads)
	_, listed := w.wire.progress()
	w.doubtful = true
	clear(w.floors)
	clear(w.here)
	w.wire.change(func() { w.wire.down = true })
	w.wire.breakAll()
	w.dropReplicas()
	defer w.runReplicas()
	time.Sleep(3 * time.Second) // the informer notices the outage, and then checks the server's versions
	synctest.Wait()
	w.server.serve(w.kind, point)
	w.wire.next.CloseIdleConnections()
	w.wire.change(func() { w.wire.down = false })
	behind := func() bool {
		_, now := w.wire.progress()
		return slices.ContainsFunc(indexesOf(w.places), func(i int) bool { return now[i] == listed[i] })
	}
	for range 60 {
		if 1+point >= reads || !behind() {
			return
		}
		w.server.Bookmark()
		time.Sleep(5 * time.Second)
		synctest.Wait()
	}
}

// do plays a step.
func (w *ownWorld) do(s step) {
	r := s.rand()
	source := r.IntN(len(w.places))
	switch s.op {
	case ownWriting:
		w.writeOwn(r)
	case otherWriting:
		w.writeOther(r)
	case goOn:
		w.goOn(r)
	case holdWatches:
		w.wire.change(func() { w.wire.held[source] = true })
	case letEvents:
		w.wire.change(func() { w.wire.budget[source] = s.n })
	case flow:
		w.flow()
	case breakWatches:
		w.wire.breakAll()
	case holdLists:
		w.wire.change(func() { w.wire.slow = true })
	case compact:
		w.expire()
	case sendBookmark:
		w.server.Bookmark()
	case pass:
		time.Sleep(time.Duration(s.n) * time.Second)
	case writeByHand:
		w.writeByHand(r)
	case askFresh:
		w.askFresh()
	case audits:
		w.audit()
	case settle:
		w.settle()
	case setBack:
		w.setBack(s.n)
	default:
		w.doShard(s)
	}
}
