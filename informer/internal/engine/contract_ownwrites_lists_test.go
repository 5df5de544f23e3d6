package engine_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// D35: an answer comes while an older list is read, which has found the stored object unchanged. The list is held
// back, and the watch that passes the version without an event restores what it has shown.
func TestContract_D35_AnAnswerDuringAnOlderList(t *testing.T) {
	for name, transform := range strips {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWriting(t, informer.Options[*corev1.Pod]{Transform: transform})
				w.says("a+5")
				before, _ := w.Writer().Indexer().Get(rig.Named("p"))
				w.beginReplace(0, reflector.SameHistory)
				w.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "5")))
				w.says("a!7")
				shown, _ := w.Writer().Indexer().Get(rig.Named("p"))
				require.NotSame(t, before, shown)
				w.commitReplace(0, "6")
				now, _ := w.Writer().Indexer().Get(rig.Named("p"))
				require.Same(t, shown, now)
				w.says("a^9")
				now, _ = w.Writer().Indexer().Get(rig.Named("p"))
				require.Same(t, before, now)
			})
		})
	}
}

// D35: a deletion is answered while an older list is read, which has found the object unchanged. The list does not
// count as lacking the object.
func TestContract_D35_ADeletionDuringAnOlderList(t *testing.T) {
	for name, transform := range strips {
		for _, row := range []struct {
			answer, then string
			recorded     int
		}{
			{"a0", "a+7 a-8", 2},
			{"ax7", "a+6 a-7", 2},
			{"ax7", "a^9", 3}, // the watch has not brought the deletion
		} {
			t.Run(name+" "+row.answer+" "+row.then, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWriting(t, informer.Options[*corev1.Pod]{Transform: transform})
					w.says("a+5")
					w.beginReplace(0, reflector.SameHistory)
					w.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "5")))
					w.says(row.answer)
					w.commitReplace(0, "6")
					for word := range strings.FieldsSeq(row.then) {
						w.says(word)
					}
					require.Len(t, w.recorded.Take(), row.recorded)
				})
			})
		}
	}
}

// D35: a dead fence reaches its maximum age while a list with its object is read. The next event restores the
// object, once.
func TestContract_D35_AFenceIsTooOldDuringAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriting(t, informer.Options[*corev1.Pod]{})
		w.says("a+5")
		w.says("a0")
		w.beginReplace(0, reflector.SameHistory)
		w.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "5")))
		time.Sleep(10 * time.Minute)
		q := kit.Pod("q", "7")
		w.tell(0, deltaOf(deltafifo.Added, q))
		w.finish(0, ownwrites.Answer{
			Kind: ownwrites.Object, Scope: ownwrites.Inside, Object: q,
			Identity: object.IdentityOf(rig.Named("q"), q), Before: w.in[0].Begins(rig.Named("q")),
		})
		w.commitReplace(0, "8")
		w.says("a^9")
		require.Equal(t, []string{"add p@5", "delete p@5", "add q@7", "add p@5"}, w.recorded.Take())
	})
}

// D14, D35: an answer comes while a list is read that has the write already. The list delivers nothing, and neither
// does the next one.
func TestContract_D35_AnAnswerDuringAListThatHasIt(t *testing.T) {
	for name, transform := range strips {
		for _, before := range []string{"", "a+5"} {
			t.Run(name+before, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWriting(t, informer.Options[*corev1.Pod]{Transform: transform})
					for word := range strings.FieldsSeq(before) {
						w.says(word)
					}
					w.beginReplace(0, reflector.SameHistory)
					w.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "7")))
					w.says("a!7")
					require.NotEmpty(t, w.recorded.Take())
					shown, _ := w.Writer().Indexer().Get(rig.Named("p"))
					w.commitReplace(0, "8")
					w.says("a=7/9")
					require.Empty(t, w.recorded.Take())
					now, _ := w.Writer().Indexer().Get(rig.Named("p"))
					require.Same(t, shown, now)
					require.Zero(t, w.Status().OwnWrites.Pending)
				})
			})
		}
	}
}

// D3, D35: an answer comes before or while an older list is read in which the object fails. The list deletes nothing.
func TestContract_D35_AnAnswerAndAnOlderListThatFails(t *testing.T) {
	for _, uid := range []string{"uid-p", "another"} {
		for _, order := range []string{"answer list", "list answer"} {
			t.Run(uid+", "+order, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWriting(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel})
					for what := range strings.FieldsSeq(order) {
						if what == "answer" {
							w.says("a!7")
							continue
						}
						w.beginReplace(0, reflector.SameHistory)
						w.tell(0, deltaOf(deltafifo.Added, kit.Pod("p", "6", rig.Sick, kit.UID(uid))))
					}
					w.commitReplace(0, "6")
					require.Equal(t, "a@7", w.holds())
					w.says("a+7")
					require.Equal(t, []string{"add p@7"}, w.recorded.Take())
					require.Zero(t, w.Status().Quarantined)
				})
			})
		}
	}
}

// D35: an answer before the first full state is not shown.
func TestContract_D35_NothingIsShownBeforeTheFirstFullState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writing{joined: newJoined(t, informer.Options[*corev1.Pod]{}, 2)}
		w.start()
		for _, sink := range w.in {
			sink.Linked(false)
		}
		w.says("a!7")
		require.Empty(t, w.holds())
		w.synced()
		require.Equal(t, informer.OwnWrites{Linked: true, Waiting: 1}, w.Status().OwnWrites)
		w.says("a+7")
		require.Equal(t, "a@7", w.holds())
	})
}

// D35: an answer that comes after the first full state is shown, though the request began before it.
func TestContract_D35_ARequestBeforeTheFirstFullState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writing{joined: newJoined(t, informer.Options[*corev1.Pod]{}, 1)}
		w.start()
		w.in[0].Linked(false)
		before := w.in[0].Begins(rig.Named("p"))
		w.beginReplace(0, reflector.NewHistory)
		w.commitReplace(0, "1")
		w.finish(0, ownwrites.Answer{
			Kind: ownwrites.Object, Scope: ownwrites.Inside, Identity: object.Identity{Key: rig.Named("p"), UID: "uid-p", Version: "95"}, Object: kit.Pod("p", "95"), Before: before,
		})
		require.Equal(t, "a@95", w.holds())
	})
}

// An audit reads the fences between two write sections, while the processLoop begins a replacement outside of one.
func TestFencesMayBeReadWhileAListBegins(t *testing.T) {
	f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
	f.list("1", kit.Pod("a", "1"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			f.Writer().Freeze(func(*indexer.Tx) {
				if f.Fences() > 0 {
					t.Error("there is no own write")
				}
			})
		}
	}()
	for n := range 100 {
		f.list(strconv.Itoa(n+2), kit.Pod("a", "1"))
	}
	<-done
}
