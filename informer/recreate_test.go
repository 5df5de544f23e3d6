package informer

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// recreated returns the registration of a handler that has received pod a, and then another pod of
// the same name.
func recreated(t *testing.T, h Handler[*corev1.Pod], o HandlerOptions) *registration {
	f := newTestCore(t, Options[*corev1.Pod]{}, 1)
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
		j, reg := &journal{}, make(chan *registration, 1)
		reg <- recreated(t, HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			j.Handle(c)
			if c.Kind == Deleted {
				r := <-reg
				r.Stop()
				reg <- r
			}
		}), HandlerOptions{})
		require.Equal(t, []string{"initial a@1", "lost a@1"}, j.take(), "no call begins after Stop returned")
	})
}

func TestAPanicCostsOneChangeOfARecreation(t *testing.T) {
	kit.SurvivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		recreated(t, HandlerFunc[*corev1.Pod](func(c Change[*corev1.Pod]) {
			j.Handle(c)
			if c.Kind == Deleted {
				panic("on purpose")
			}
		}), HandlerOptions{})
		require.Equal(t, []string{"initial a@1", "lost a@1", "add a@2"}, j.take())
	})
}

// D2: a typed handler gets a delete and an add when another object has taken a name, through a
// watch or a relist, with either Delivery.
func TestContract_D2_AnotherObjectUnderTheNameIsADeleteAndAnAdd(t *testing.T) {
	for _, delivery := range deliveries {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{}
			recreated(t, j, HandlerOptions{Delivery: delivery})
			require.Equal(t, []string{"initial a@1", "lost a@1", "add a@2"}, j.take())
		})
		synctest.Test(t, func(t *testing.T) {
			f := newTestCore(t, Options[*corev1.Pod]{}, 1)
			j := &journal{}
			f.register(j, HandlerOptions{Delivery: delivery})
			f.start()
			f.list("1", kit.Pod("a", "1", kit.UID("one")), kit.Pod("b", "1"))
			j.take()
			f.list("3", kit.Pod("a", "3", kit.UID("two")), kit.Pod("b", "2"))
			require.Equal(t, []string{"lost a@1", "add a@3", "update b@1 b@2"}, j.take())
		})
	}
}

func TestContract_D2_LatestTellsAnotherObjectAfterADelete(t *testing.T) {
	for _, stripped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := Options[*corev1.Pod]{}
			if stripped {
				o.Transform = func(p *corev1.Pod) (*corev1.Pod, error) { p.UID = ""; return p, nil }
			}
			f := newTestCore(t, o, 1)
			h := newGated()
			f.register(h, HandlerOptions{Delivery: Latest})
			f.start()
			f.take(t, deltafifo.Begin)
			f.write(t, deltaOf(deltafifo.Added, kit.Pod("a", "1", kit.UID("one"))), deltaOf(deltafifo.Added, kit.Pod("b", "1")))
			f.take(t, deltafifo.Commit)
			synctest.Wait()
			h.pass()
			h.pass()
			f.write(t, deltaOf(deltafifo.Modified, kit.Pod("b", "2")))
			synctest.Wait()
			h.take()
			f.write(t, deltaOf(deltafifo.Deleted, kit.Pod("a", "3", kit.UID("one"))), deltaOf(deltafifo.Added, kit.Pod("a", "4", kit.UID("two"))))
			h.open()
			require.Equal(t, []string{"lost a@1", "add a@4"}, h.take())
		})
	}
}

// Two pods of one name are deleted, and the handler has seen only the first. With Latest delivery
// it gets the delete of the first pod.
func TestLatestTellsTheEndOfTheObjectThatTheHandlerKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		h := newGated()
		f.register(h, HandlerOptions{Delivery: Latest})
		f.start()
		f.list("1", kit.Pod("a", "1", kit.UID("one")), kit.Pod("b", "1"))
		synctest.Wait()
		h.pass()
		h.pass()
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "2")))
		synctest.Wait()
		h.take()
		f.apply(deltaOf(deltafifo.Deleted, kit.Pod("a", "3", kit.UID("one"))), deltaOf(deltafifo.Added, kit.Pod("a", "4", kit.UID("two"))), deltaOf(deltafifo.Deleted, kit.Pod("a", "5", kit.UID("two"))))
		h.open()
		require.Equal(t, []string{"lost a@1"}, h.take())
	})
}

// An object leaves a selector and comes back. With Latest delivery, the handler gets one update
// from the version that it saw last.
func TestLatestTellsWhatTheHandlerSawLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestCore(t, Options[*corev1.Pod]{}, 1)
		h := newGated()
		f.register(h, HandlerOptions{Delivery: Latest})
		f.start()
		f.list("1", kit.Pod("a", "1"), kit.Pod("b", "1"))
		synctest.Wait()
		h.pass()
		h.pass()
		f.apply(deltaOf(deltafifo.Modified, kit.Pod("b", "2")))
		synctest.Wait()
		h.take()
		f.apply(deltaOf(deltafifo.Deleted, kit.Pod("a", "3")), deltaOf(deltafifo.Added, kit.Pod("a", "4")))
		h.open()
		require.Equal(t, []string{"update a@1 a@4"}, h.take())
	})
}
