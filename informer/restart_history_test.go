package informer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// restorable is a script that a run may resume from: a server's, which streams. It refuses streams.
type restorable struct{ *script }

func (restorable) Streaming() reflector.Streaming { return reflector.StreamingSupported }

func newRestorable(version string, pods ...*corev1.Pod) restorable {
	s := newScript(version, pods...)
	s.OnWatch = func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
		if o.SendInitialEvents != nil {
			return nil, errors.New("no streams")
		}
		return nil, nil
	}
	return restorable{s}
}

// A run may end after it has noticed that the server's history went back, and before the store has
// the objects of the new one. The next run reads them, however far the new history has come, and
// reuses no stored object.
func TestContract_D23_ARestartRemembersThatTheHistoryWentBack(t *testing.T) {
	for name, test := range map[string]struct {
		listFails bool   // the new history is noticed, and not read
		version   string // of the new history, when the informer runs again
	}{
		"queued":                        {false, "50"},
		"queued, and further since":     {false, "200"},
		"only noticed":                  {true, "50"},
		"only noticed, and further now": {true, "200"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newRestorable("100", kit.Pod("a", "9", kit.UID("a"), kit.Label("is", "old")), kit.Pod("ghost", "60"))
				gate := make(chan struct{})
				i := New(reflector.Source(s), Options[*corev1.Pod]{Observe: observed, Indexes: indexThatWaits(gate)})
				cancel, wait := starts(t, i)
				require.NoError(t, i.WaitFresh(t.Context()))
				s.Send(watch.Added, kit.Pod("slow", "101"))
				synctest.Wait() // the store is busy with it
				s.Set("50", kit.Pod("a", "9", kit.UID("a"), kit.Label("is", "new")))
				if test.listFails {
					s.Fail(errPoison)
				}
				s.Send(watch.Bookmark, kit.Bookmark("50", ""))
				synctest.Wait()
				cancel()
				close(gate)
				wait()

				s.Fail(nil)
				s.Set(test.version, kit.Pod("a", "9", kit.UID("a"), kit.Label("is", "new")))
				starts(t, i)
				require.NoError(t, i.WaitFresh(t.Context()))
				require.Equal(t, []string{"default/a"}, spell(i.Indexer().Keys()))
				require.Equal(t, "new", stored(t, i, "a").Labels["is"], "equal versions of two histories are not equal objects")
				require.Equal(t, test.version, i.Indexer().Version())
			})
		})
	}
}

// A run may end after it has received a full state, and before the store has it. The next run reads
// the source again: a watch from the store's version may lack what only the full state has told.
func TestContract_D24_ARunDoesNotGoOnBehindAFullStateThatWasDropped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, gate := newRestorable("100", kit.Pod("a", "9")), make(chan struct{})
		// With a transform no stored object is looked up for the full state, which would wait for the store.
		i := New(reflector.Source(s), Options[*corev1.Pod]{Observe: observed, Transform: failByLabel, Indexes: indexThatWaits(gate)})
		cancel, wait := starts(t, i)
		require.NoError(t, i.WaitFresh(t.Context()))
		s.Send(watch.Added, kit.Pod("slow", "101"))
		synctest.Wait() // the store is busy with it
		s.Set("110", kit.Pod("a", "9"), kit.Pod("slow", "101"), kit.Pod("untold", "105"))
		before := i.Status().Totals
		s.Expire()
		synctest.Wait()
		now := i.Status().Totals
		require.Equal(t, before.Lists+1, now.Lists)
		require.Equal(t, before.Watches+1, now.Watches, "a watch without doubts follows the full state")
		cancel()
		close(gate)
		wait()
		require.Equal(t, "101", i.Indexer().Version(), "the full state was dropped")

		starts(t, i)
		require.NoError(t, i.WaitFresh(t.Context()))
		require.ElementsMatch(t, []string{"default/a", "default/slow", "default/untold"}, spell(i.Indexer().Keys()))
	})
}

// indexThatWaits returns an index whose function waits for a gate with the pod "slow", and so holds the store still.
func indexThatWaits(gate <-chan struct{}) []indexer.Index[*corev1.Pod] {
	return []indexer.Index[*corev1.Pod]{{Name: "slow", Append: func(values []string, p *corev1.Pod) []string {
		if p.Name == "slow" {
			<-gate
		}
		return values
	}}}
}
