package informer_test

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

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// inNamespace is a script that declares the namespace of its objects.
type inNamespace struct {
	*rig.Script
	namespace string
}

func (s inNamespace) source() reflector.Source {
	source := rig.SourceOf(s)
	source.Namespace = s.namespace
	return source
}

func inside(namespace string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Namespace = namespace }
}

// WaitFor waits for the source of the object's namespace, and not for the other sources' next
// bookmarks.
func TestWaitForWaitsForTheObjectsOwnSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := rig.NewScript("5"), rig.NewScript("5")
		i := informer.Join([]reflector.Source{inNamespace{a, "a"}.source(), inNamespace{b, "b"}.source()}, informer.Options[*corev1.Pod]{Observe: rig.Observed})
		stop := rig.Start(t, i)
		synctest.Wait()
		result := make(chan error, 3)
		wait := func(p *corev1.Pod) { go func() { result <- i.WaitFor(t.Context(), p) }() }

		wait(kit.Pod("x", "7", inside("b")))
		rig.Pends(t, result)
		b.Send(watch.Added, kit.Pod("x", "7", inside("b")))
		require.NoError(t, <-result, "it has come")

		wait(kit.Pod("deleted", "9", inside("b")))
		rig.Pends(t, result)
		b.Send(watch.Deleted, kit.Pod("x", "9", inside("b")))
		require.NoError(t, <-result, "its source is past it")

		wait(kit.Pod("x", "10", inside("elsewhere")))
		require.ErrorIs(t, <-result, informer.ErrNoSource)

		ctx, cancel := context.WithCancel(t.Context())
		go func() { result <- i.WaitDelivered(ctx, "9") }()
		rig.Pends(t, result)
		cancel()
		require.ErrorIs(t, <-result, context.Canceled, "the other source has not reached it")
		require.ErrorIs(t, i.WaitFor(t.Context(), nil), informer.ErrType)
		stop()
	})
}

// Waiting for a quarantined object fails with ErrQuarantined, until a newer version is stored or the
// object is gone.
func TestAWaitForAQuarantinedObjectReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("5", kit.Pod("a", "3", rig.Sick), kit.Pod("b", "4"))
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed, Transform: rig.FailByLabel})
		stop := rig.Start(t, i)
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("b", "4")))
		require.ErrorIs(t, i.WaitFor(t.Context(), kit.Pod("a", "3")), informer.ErrQuarantined, "of a list")
		s.Send(watch.Modified, kit.Pod("b", "6", kit.Label("poison", "panic")))
		require.ErrorIs(t, i.WaitFor(t.Context(), kit.Pod("b", "6")), informer.ErrQuarantined)
		s.Send(watch.Modified, kit.Pod("b", "7"))
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("b", "7")))
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("b", "6")), "the object has come, in a newer version")
		s.Set("10", kit.Pod("b", "7"))
		s.Expire()
		require.NoError(t, i.WaitDelivered(t.Context(), "10"))
		require.NoError(t, i.WaitFor(t.Context(), kit.Pod("a", "3")), "the list does not hold it any more")
		require.Zero(t, i.Status().Quarantined)
		require.Empty(t, i.Inspector().Quarantined())
		stop()
	})
}

// A source without versions, such as most fakes, has nothing to compare: the waits end once it has been read.
func TestWaitsOfASourceWithoutVersions(t *testing.T) {
	for name, wait := range allWaits {
		for _, version := range []string{"", "5"} {
			t.Run(fmt.Sprintf("%s %q", name, version), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					i := informer.New(rig.SourceOf(rig.NewScript("", kit.Pod("a", ""))), informer.Options[*corev1.Pod]{Observe: rig.Observed})
					result := make(chan error, 1)
					go func() { result <- wait(i, t.Context(), version) }()
					rig.Pends(t, result)
					stop := rig.Start(t, i)
					require.NoError(t, <-result)
					stop()
				})
			})
		}
	}
}

// If an object's version failed, and a later one as well, WaitFor says so: the store has an older one.
func TestWaitForReturnsALaterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("5", kit.Pod("a", "3"), kit.Pod("b", "4"))
		i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed, Transform: rig.FailByLabel})
		stop := rig.Start(t, i)
		s.Send(watch.Modified, kit.Pod("a", "6", rig.Sick))
		s.Send(watch.Modified, kit.Pod("a", "7", rig.Sick))
		require.NoError(t, i.WaitDelivered(t.Context(), "6"))
		require.ErrorIs(t, i.WaitFor(t.Context(), kit.Pod("a", "6")), informer.ErrQuarantined)
		require.ErrorIs(t, i.WaitFor(t.Context(), kit.Pod("a", "7")), informer.ErrQuarantined)
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
	synctest.Test(t, func(t *testing.T) {
		ofA, ofB := errors.New("of a"), errors.New("of b")
		a, b := rig.NewScript("5"), rig.NewScript("5")
		i := informer.Join([]reflector.Source{inNamespace{a, "a"}.source(), inNamespace{b, "b"}.source()}, informer.Options[*corev1.Pod]{Observe: rig.Observed})
		rig.Start(t, i)
		for s, err := range map[*rig.Script]error{a: ofA, b: ofB} {
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
func TestContract_D19_AnEndedWaitReturnsTheReason(t *testing.T) {
	errDown := errors.New("the server is down")
	for name, wait := range map[string]func(*informer.Informer[*corev1.Pod], context.Context) error{
		"WaitSynced": (*informer.Informer[*corev1.Pod]).WaitSynced,
		"WaitFresh":  (*informer.Informer[*corev1.Pod]).WaitFresh,
		"WaitFor": func(i *informer.Informer[*corev1.Pod], ctx context.Context) error {
			return i.WaitFor(ctx, kit.Pod("a", "99"))
		},
		"WaitDelivered": func(i *informer.Informer[*corev1.Pod], ctx context.Context) error { return i.WaitDelivered(ctx, "99") },
	} {
		for _, ends := range []string{"the context", "the informer"} {
			t.Run(name+"/"+ends, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := rig.NewScript("10")
					s.Fail(errDown)
					i := informer.New(rig.SourceOf(s), informer.Options[*corev1.Pod]{Observe: rig.Observed})
					stop := rig.Start(t, i)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					result := make(chan error, 1)
					go func() { result <- wait(i, ctx) }()
					rig.Pends(t, result)
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
