package informer

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// inNamespace is a script that declares the namespace of its objects.
type inNamespace struct {
	*script
	namespace string
}

func (s inNamespace) source() reflector.Source {
	source := sourceOf(s)
	source.Namespace = s.namespace
	return source
}

func inside(namespace string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Namespace = namespace }
}

// WaitFor waits for the source of the object's namespace, and not for the other sources' next
// bookmarks.
func TestWaitForWaitsForTheObjectsOwnSource(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := newScript("5"), newScript("5")
		i := Join([]reflector.Source{inNamespace{a, "a"}.source(), inNamespace{b, "b"}.source()}, Options[*corev1.Pod]{Observe: observed})
		stop := start(t, i)
		synctest.Wait()
		result := make(chan error, 3)
		wait := func(p *corev1.Pod) { go func() { result <- i.WaitFor(t.Context(), p) }() }

		wait(kit.Pod("x", "7", inside("b")))
		pends(t, result)
		b.Send(watch.Added, kit.Pod("x", "7", inside("b")))
		require.NoError(t, <-result, "it has come")

		wait(kit.Pod("deleted", "9", inside("b")))
		pends(t, result)
		b.Send(watch.Deleted, kit.Pod("x", "9", inside("b")))
		require.NoError(t, <-result, "its source is past it")

		wait(kit.Pod("x", "10", inside("elsewhere")))
		require.ErrorIs(t, <-result, ErrNoSource)

		ctx, cancel := context.WithCancel(t.Context())
		go func() { result <- i.WaitDelivered(ctx, "9") }()
		pends(t, result)
		cancel()
		require.ErrorIs(t, <-result, context.Canceled, "the other source has not reached it")
		require.ErrorIs(t, i.WaitFor(t.Context(), nil), ErrType)
		stop()
	})
}

// Waiting for a quarantined object fails with ErrQuarantined, until a newer version is stored or the
// object is gone.
func TestWhoWaitsForAQuarantinedObjectIsTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("5", kit.Pod("a", "3", kit.Label("poison", "error")), kit.Pod("b", "4"))
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed, Transform: failByLabel})
		stop := start(t, i)
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("b", "4")))
		require.ErrorIs(t, i.WaitFor(t.Context(), kit.Pod("a", "3")), ErrQuarantined, "of a list")
		s.Send(watch.Modified, kit.Pod("b", "6", kit.Label("poison", "panic")))
		require.ErrorIs(t, i.WaitFor(t.Context(), kit.Pod("b", "6")), ErrQuarantined)
		s.Send(watch.Modified, kit.Pod("b", "7"))
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("b", "7")))
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("b", "6")), "the object has come, in a newer version")
		s.Set("10", kit.Pod("b", "7"))
		s.Expire()
		require.NoError(t, i.WaitDelivered(t.Context(), "10"))
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("a", "3")), "the list does not hold it any more")
		for _, name := range []string{"a", "b"} {
			require.False(t, engine.Inside{Core: i.core}.IsQuarantined(named(name)))
		}
		stop()
	})
}

// A source without versions, such as most fakes, has nothing to compare: the waits end once it has been read.
func TestWaitsOfASourceWithoutVersions(t *testing.T) {
	for name, wait := range allWaits {
		for _, version := range []string{"", "5"} {
			t.Run(fmt.Sprintf("%s %q", name, version), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					i := New(sourceOf(newScript("", kit.Pod("a", ""))), Options[*corev1.Pod]{Observe: observed})
					result := make(chan error, 1)
					go func() { result <- wait(i, t.Context(), version) }()
					pends(t, result)
					stop := start(t, i)
					require.NoError(t, <-result)
					stop()
				})
			})
		}
	}
}

func TestWaitSyncedSaysWhatIsMissing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		i := New(sourceOf(newScript("5")), Options[*corev1.Pod]{Observe: observed})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := i.WaitSynced(ctx)
		require.ErrorIs(t, err, ErrNotSynced)
		require.ErrorContains(t, err, "not started")
		start(t, i)()
		require.NoError(t, i.WaitSynced(ctx), "it is synced, and has stopped, and the context is over")
	})
}

// WaitFor waits until the store holds the object, even if an index function delays the commit of
// the replacement that has brought it.
func TestWaitForOfJoinedSourcesWaitsForTheStore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		blocks := indexer.Index[*corev1.Pod]{Name: "x", Append: func(v []string, p *corev1.Pod) []string {
			if p.Name == "b" {
				<-gate
			}
			return v
		}}
		f := newTestCore(t, Options[*corev1.Pod]{Indexes: []indexer.Index[*corev1.Pod]{blocks}}, 2)
		f.list("1")
		f.apply(deltafifo.Delta{Op: deltafifo.Begin, Source: 1}, deltafifo.Delta{Op: deltafifo.Commit, Source: 1, Version: "10"})
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.list("5", kit.Pod("b", "3"), kit.Pod("a", "4"))
		}()
		synctest.Wait() // in the middle of the commit
		_, stored := f.Writer().Indexer().Get(named("a"))
		require.False(t, stored)
		result := make(chan error, 1)
		go func() { result <- f.WaitFor(t.Context(), kit.Pod("a", "4")) }()
		pends(t, result)
		close(gate)
		<-done
		require.NoError(t, <-result)
	})
}

// If an object's version failed, and a later one as well, WaitFor says so: the store has an older one.
func TestWaitForIsToldOfALaterFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScript("5", kit.Pod("a", "3"), kit.Pod("b", "4"))
		i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed, Transform: failByLabel})
		stop := start(t, i)
		s.Send(watch.Modified, kit.Pod("a", "6", kit.Label("poison", "error")))
		s.Send(watch.Modified, kit.Pod("a", "7", kit.Label("poison", "error")))
		require.NoError(t, i.WaitDelivered(t.Context(), "6"))
		require.ErrorIs(t, i.WaitFor(t.Context(), kit.Pod("a", "6")), ErrQuarantined)
		require.ErrorIs(t, i.WaitFor(t.Context(), kit.Pod("a", "7")), ErrQuarantined)
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("a", "3")), "the store has it")
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("b", "4")))
		s.Send(watch.Modified, kit.Pod("a", "8"))
		require.NoError(t, i.WaitDelivered(t.Context(), "8"))
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("a", "6")), "a newer one has come")
		stop()
	})
}

// The error of a wait has the last error of the source that it has waited for, and not of another one.
func TestAWaitNamesTheErrorOfItsSource(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ofA, ofB := errors.New("of a"), errors.New("of b")
		a, b := newScript("5"), newScript("5")
		i := Join([]reflector.Source{inNamespace{a, "a"}.source(), inNamespace{b, "b"}.source()}, Options[*corev1.Pod]{Observe: observed})
		start(t, i)
		for s, err := range map[*script]error{a: ofA, b: ofB} {
			s.Fail(err)
			s.Expire()
			time.Sleep(time.Minute)
		}
		for namespace, want := range map[string]error{"a": ofA, "b": ofB} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := i.WaitFor(ctx, kit.Pod("x", "9", inside(namespace)))
			cancel()
			require.ErrorIs(t, err, want)
			require.NotErrorIs(t, err, map[string]error{"a": ofB, "b": ofA}[namespace])
		}
	})
}

// D10, D19: a wait that ends in vain names the last error of a list or watch.
func TestContract_D19_AWaitThatEndsSaysWhy(t *testing.T) {
	errDown := errors.New("the server is down")
	for name, wait := range map[string]func(*Informer[*corev1.Pod], context.Context) error{
		"WaitSynced":    (*Informer[*corev1.Pod]).WaitSynced,
		"WaitFresh":     (*Informer[*corev1.Pod]).WaitFresh,
		"WaitFor":       func(i *Informer[*corev1.Pod], ctx context.Context) error { return i.WaitFor(ctx, kit.Pod("a", "99")) },
		"WaitDelivered": func(i *Informer[*corev1.Pod], ctx context.Context) error { return i.WaitDelivered(ctx, "99") },
	} {
		for _, ends := range []string{"the context", "the informer"} {
			t.Run(name+"/"+ends, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					s := newScript("10")
					s.Fail(errDown)
					i := New(sourceOf(s), Options[*corev1.Pod]{Observe: observed})
					stop := start(t, i)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					result := make(chan error, 1)
					go func() { result <- wait(i, ctx) }()
					pends(t, result)
					if ends == "the context" {
						cancel()
					} else {
						stop()
					}
					require.ErrorIs(t, <-result, errDown)
				})
			})
		}
	}
}
