package engine_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// recreated returns the registration of a handler that has received pod a, and then another pod of
// the same name.
func recreated(t *testing.T, h informer.Handler[*corev1.Pod], o informer.HandlerOptions) informer.Registration {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	r := f.register(h, o)
	f.start()
	f.list("1", kit.Pod("a", "1", kit.UID("one")))
	synctest.Wait()
	f.apply(deltaOf(deltafifo.Modified, kit.Pod("a", "2", kit.UID("two"))))
	synctest.Wait()
	return r
}

func TestStopHoldsBetweenTheDeleteAndTheAddOfARecreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, reg := &rig.Journal{}, make(chan informer.Registration, 1)
		reg <- recreated(t, informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			j.Handle(c)
			if c.Kind == informer.Deleted {
				r := <-reg
				r.Stop()
				reg <- r
			}
		}), informer.HandlerOptions{})
		require.Equal(t, []string{"initial a@1", "lost a@1"}, j.Take(), "no call begins after Stop returned")
	})
}

func TestAPanicCostsOneChangeOfARecreation(t *testing.T) {
	kit.SurvivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		j := &rig.Journal{}
		recreated(t, informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) {
			j.Handle(c)
			if c.Kind == informer.Deleted {
				panic("on purpose")
			}
		}), informer.HandlerOptions{})
		require.Equal(t, []string{"initial a@1", "lost a@1", "add a@2"}, j.Take())
	})
}

// D2: a typed handler gets a delete and an add when another object has taken a name, through a
// watch or a relist, with either Delivery.
func TestContract_D2_AnotherObjectUnderTheNameIsADeleteAndAnAdd(t *testing.T) {
	for _, delivery := range rig.Deliveries {
		synctest.Test(t, func(t *testing.T) {
			j := &rig.Journal{}
			recreated(t, j, informer.HandlerOptions{Delivery: delivery})
			require.Equal(t, []string{"initial a@1", "lost a@1", "add a@2"}, j.Take())
		})
		synctest.Test(t, func(t *testing.T) {
			f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
			j := &rig.Journal{}
			f.register(j, informer.HandlerOptions{Delivery: delivery})
			f.start()
			f.list("1", kit.Pod("a", "1", kit.UID("one")), kit.Pod("b", "1"))
			j.Take()
			f.list("3", kit.Pod("a", "3", kit.UID("two")), kit.Pod("b", "2"))
			require.Equal(t, []string{"lost a@1", "add a@3", "update b@1 b@2"}, j.Take())
		})
	}
}

func TestContract_D2_LatestDeliversAnotherObjectAfterADelete(t *testing.T) {
	for _, stripped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := informer.Options[*corev1.Pod]{}
			if stripped {
				o.Transform = func(p *corev1.Pod) (*corev1.Pod, error) { p.UID = ""; return p, nil }
			}
			f := newTestCore(t, o, 1)
			h := rig.NewGated()
			f.register(h, informer.HandlerOptions{Delivery: informer.Latest})
			f.start()
			f.take(t, deltafifo.Begin)
			f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1", kit.UID("one"))), deltaOf(deltafifo.Added, kit.Pod("b", "1")))
			f.take(t, deltafifo.Commit)
			synctest.Wait()
			h.Pass()
			h.Pass()
			f.write(t, deltaOf(deltafifo.Modified, kit.Pod("b", "2")))
			synctest.Wait()
			h.Take()
			f.write(t, deltaOf(deltafifo.Deleted, kit.Pod("a", "3", kit.UID("one"))), deltaOf(deltafifo.Added, kit.Pod("a", "4", kit.UID("two"))))
			h.Open()
			require.Equal(t, []string{"lost a@1", "add a@4"}, h.Take())
		})
	}
}

// Two pods of one name are deleted, and the handler has seen only the first. With Latest delivery
// it gets the delete of the first pod.
func TestLatestDeliversTheDeleteOfTheKnownObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		h := rig.NewGated()
		f.register(h, informer.HandlerOptions{Delivery: informer.Latest})
		f.start()
		f.list("1", kit.Pod("a", "1", kit.UID("one")), kit.Pod("b", "1"))
		synctest.Wait()
		h.Pass()
		h.Pass()
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "2")))
		synctest.Wait()
		h.Take()
		f.apply(deltaOf(deltafifo.Deleted, kit.Pod("a", "3", kit.UID("one"))), deltaOf(deltafifo.Added, kit.Pod("a", "4", kit.UID("two"))), deltaOf(deltafifo.Deleted, kit.Pod("a", "5", kit.UID("two"))))
		h.Open()
		require.Equal(t, []string{"lost a@1"}, h.Take())
	})
}

// An object leaves a selector and comes back. With Latest delivery, the handler gets one update
// from the version that it saw last.
func TestLatestDeliversWhatTheHandlerSawLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := stuckInB(t)
		f.apply(deltaOf(deltafifo.Deleted, kit.Pod("a", "3")), deltaOf(deltafifo.Added, kit.Pod("a", "4")))
		h.Open()
		require.Equal(t, []string{"update a@1 a@4"}, h.Take())
	})
}
