package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// D35, D36: what a reader and client-go's handlers see of own writes, in all orders of answer and watch.
func TestContract_D35_OwnWritesAreShownUntilTheWatchHasThem(t *testing.T) {
	for _, row := range []struct{ words, holds, recorded string }{
		// The answer comes first, and the event changes nothing.
		{"a!7 a+7", "a@7", "add p@7"},
		{"a+5 a!7", "a@7", "add p@5, update p@5 p@7"},
		{"a+5 a!7 a+6 a+7", "a@7", "add p@5, update p@5 p@7"},
		{"a+5 a!7 a+8", "a@8", "add p@5, update p@5 p@7, update p@7 p@8"},
		{"a+5 a!7 a!9 a+7 a+9", "a@9", "add p@5, update p@5 p@7, update p@7 p@9"},
		// The event comes first.
		{"a+7 a!7", "a@7", "add p@7"},
		{"a+5 a+8 a!7", "a@8", "add p@5, update p@5 p@8"},
		{"a!9 a!7", "a@9", "add p@9"},
		// Deletions: the handler gets the final state, or the last one that the program knows.
		{"a+5 ax7 a+6 a-7", "", "add p@5, delete p@7"},
		{"a+5 aX7 a-6", "", "add p@5, delete p@5"},
		{"a+5 a0 a+6 a-7", "", "add p@5, delete p@5"},
		{"a+5 a-7 a0", "", "add p@5, delete p@7"},
		{"a!7 a0 a+7 a-9", "", "add p@7, delete p@7"},
		{"af5 ae5 a-7", "", "add p@5, delete p@5"},
		{"a+5 ae5", "a@5", "add p@5"},
		{"af5 ae6", "a@5", "add p@5"},
		// The pod leaves the selector: the handler gets the version at which it did, as by the watch.
		{"a+5 a~7 a+6 a-7", "", "add p@5, delete p@7"},
		{"a~7 a+5", "", ""},
		// Nobody can tell.
		{"a+5 a?7", "a@5", "add p@5"},
		{"a+5 a*", "a@5", "add p@5"},
		// The watch passes the version, and has not brought the pod.
		{"a!7 a^9", "", "add p@7, delete tombstone default/p p@7"},
		{"a+5 a!7 a^6", "a@7", "add p@5, update p@5 p@7"},
		{"a+5 a!7 a^9", "a@5", "add p@5, update p@5 p@7, update p@7 p@5"},
		{"a+5 a!7 a+6 a^9", "a@6", "add p@5, update p@5 p@7, update p@7 p@6"},
		// Lists, older or newer than the write.
		{"a+5 a!7 a=5/6", "a@7", "add p@5, update p@5 p@7"},
		{"a+5 a!7 a./6", "a@7", "add p@5, update p@5 p@7"},
		{"a!7 a./6 a+7", "a@7", "add p@7"},
		{"a+5 a0 a=5/6", "", "add p@5, delete p@5"},
		{"a+5 a!7 a=7/8", "a@7", "add p@5, update p@5 p@7"},
		{"a+5 a!7 a./8", "", "add p@5, update p@5 p@7, delete tombstone default/p p@7"},
		{"a+5 a!7 a=6/6 a^9", "a@6", "add p@5, update p@5 p@7, update p@7 p@6"},
		{"a+5 a!7 a{3/4", "a@3", "add p@5, update p@5 p@7, update p@7 p@3"},
		// Writes by hand win until the next event.
		{"a+5 a!7 h+ a+6", "a@6", "add p@5, update p@5 p@7, update p@hand p@6"},
		{"a+5 a!7 h- a+8", "a@8", "add p@5, update p@5 p@7, add p@8"},
		{"a+5 a0 h+ a+6", "a@6", "add p@5, delete p@5, update p@hand p@6"},
		{"a+5 a!7 h- a^9", "a@5", "add p@5, update p@5 p@7, add p@5"},
		{"a+5 h- ax7 a+6 a-7", "", "add p@5"},
		{"a+5 h- a~7 a+6 a-7", "", "add p@5"},
		{"a+5 h- a0 a-7", "", "add p@5"},
		{"a+5 h- b~7 a-7", "", "add p@5"},
		{"a+5 ax7 h+ h- a^9", "a@5", "add p@5, delete p@7, add p@5"},
		// The pod moves from source a to source b.
		{"a+5 b!7 a~7 b+7 a-7", "b@7", "add p@5, update p@5 p@7"},
		{"a+5 b!7 a~7 a-7 b+7", "b@7", "add p@5, update p@5 p@7"},
		{"a+5 b+7 a~7 a-7 b!7", "b@7", "add p@5, update p@5 p@7"},
		{"b+9 a!7", "b@9", "add p@9"},
		{"a+5 b+9 a~7 b-10 a+6", "", "add p@5, update p@5 p@9, delete p@10"},
		{"a+5 b+9 a~7 b-10 a+6 a-7", "", "add p@5, update p@5 p@9, delete p@10"},
	} {
		for name, transform := range map[string]func(*corev1.Pod) (*corev1.Pod, error){"": nil, ", transformed": func(p *corev1.Pod) (*corev1.Pod, error) { return p, nil }} {
			t.Run(row.words+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWriting(t, informer.Options[*corev1.Pod]{Transform: transform})
					for word := range strings.FieldsSeq(row.words) {
						w.says(word)
					}
					require.Equal(t, row.recorded, strings.Join(w.recorded.Take(), ", "))
					require.Equal(t, row.holds, w.holds())
				})
			})
		}
	}
}

// D3, D35: an event that a fence keeps back ends the quarantine of its object, and the end of a fence does not.
func TestContract_D3_QuarantineBehindAFence(t *testing.T) {
	for words, want := range map[string]int{
		"a0 a*6 a-7":  0, // it has left the selector, or was deleted
		"a!9 a*6 a+7": 0,
		"a!9 a*6 a-7": 0,
		"a!9 a*6 a^9": 1, // a ghost: the store has what came before
	} {
		t.Run(words, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWriting(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel})
				w.in[0].Linked(true)
				w.says("a+5")
				for word := range strings.FieldsSeq(words) {
					if version, fails := strings.CutPrefix(word, "a*"); fails {
						w.tell(0, deltaOf(deltafifo.Modified, kit.Pod("p", version, rig.Sick)))
						require.Equal(t, 1, w.Status().Quarantined)
					} else {
						w.says(word)
					}
				}
				require.Equal(t, want, w.Status().Quarantined)
			})
		})
	}
}

// D33: WaitFor returns for an own write that the store shows, whatever the transform clears.
func TestContract_D33_WaitForAnOwnWrite(t *testing.T) {
	for name, transform := range strips {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWriting(t, informer.Options[*corev1.Pod]{Transform: transform})
				w.says("a+5")
				w.says("a!7")
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				require.NoError(t, w.WaitFor(ctx, kit.Pod("p", "7")))
				require.ErrorIs(t, w.WaitFor(ctx, kit.Pod("p", "8")), context.Canceled)
			})
		})
	}
}

// D35: with packed objects a write section decodes nothing.
func TestContract_D35_OwnWritesInAPackedStore(t *testing.T) {
	unverified(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWriting(t, rig.PackedCold())
		require.NoError(t, w.view.Shared().RemoveEventHandler(w.registered))
		for word := range strings.FieldsSeq("a+5 a!7 a+6 a^9 a!12 a=6/11 af20 ae20 a0") {
			w.says(word)
		}
		require.Zero(t, w.Status().Storage.Decodes)
		require.Equal(t, informer.OwnWrites{Linked: true, Shown: 3, Ghosts: 1, Pending: 1}, w.Status().OwnWrites)
		require.Empty(t, w.holds())
	})
}

// D36: typed handlers get a deletion without a final state as Lost, with the last known one. So they get an object
// that leaves the selector, if it is packed or does not show its version.
func TestContract_D36_ADeletionAnsweredWithoutTheObjectIsLost(t *testing.T) {
	for words, lost := range map[string]bool{"a+5 a0": true, "a+5 ax7": false, "a+5 aX7": true, "af5 ae5": false, "a+5 a~7": false} {
		clears := informer.Options[*corev1.Pod]{Transform: strips["its resourceVersion"]}
		for i, o := range []informer.Options[*corev1.Pod]{{}, {}, rig.PackedCold(), rig.PackedCold(), clears, clears} {
			delivery, lost := informer.Delivery(i%2), lost || i > 1 && words == "a+5 a~7"
			synctest.Test(t, func(t *testing.T) {
				w := newWriting(t, o)
				var last informer.Change[*corev1.Pod]
				w.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) { last = c }), informer.HandlerOptions{Delivery: delivery})
				for word := range strings.FieldsSeq(words) {
					synctest.Wait()
					w.says(word)
				}
				synctest.Wait()
				require.Equal(t, informer.Deleted, last.Kind)
				require.Equal(t, lost, last.Lost, words)
				require.NotNil(t, last.Old)
			})
		}
	}
}

// D35: Status counts what became of the answers, and a ghost is reported.
func TestContract_D35_StatusCountsOwnWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ghosts []informer.Event
		w := newWriting(t, informer.Options[*corev1.Pod]{Observe: func(e informer.Event) {
			if _, ok := e.(informer.Ghost); ok {
				ghosts = append(ghosts, e)
			}
		}})
		for word := range strings.FieldsSeq("a!7 a?8 a~9 a*") {
			w.says(word)
		}
		require.Equal(t, informer.OwnWrites{Linked: true, Shown: 1, Outside: 1, Waiting: 1, Doubtful: 1, Pending: 1}, w.Status().OwnWrites)
		w.says("a!12")
		w.says("a^15")
		require.Equal(t, informer.OwnWrites{Linked: true, Shown: 2, Outside: 1, Waiting: 1, Doubtful: 1, Ghosts: 1}, w.Status().OwnWrites)
		require.Equal(t, []informer.Event{informer.Ghost{Key: rig.Named("p"), Version: "12"}}, ghosts)
	})
}

// D35: answers that the run has not applied when it ends are counted, both the one that the processLoop has taken from the
// queue and the one behind it. The callers do not wait for them.
func TestContract_D35_AnswersWhenTheRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriting(t, informer.Options[*corev1.Pod]{})
		var callers sync.WaitGroup
		write := func(version string) {
			id := object.Identity{Key: rig.Named("p"), UID: "uid-p", Version: version}
			a := ownwrites.Answer{Kind: ownwrites.Object, Scope: ownwrites.Inside, Identity: id, Object: kit.Pod("p", version), Before: w.in[0].Begins(id.Key), Counted: new(atomic.Bool)}
			callers.Go(func() { w.in[0].Answered(a) })
			synctest.Wait()
		}
		write("7")
		taken, err := w.Drain(t.Context())
		require.NoError(t, err)
		write("8")
		w.Drop(taken)
		require.Equal(t, informer.OwnWrites{Linked: true, Waiting: 2}, w.Status().OwnWrites)
		callers.Wait()
	})
}

// D23, D35: The store counts the answer to a request from the previous history, and does not show it. The write may
// belong to either history.
func TestContract_D35_AnAnswerToARequestOfTheHistoryBefore(t *testing.T) {
	for noticed, holds := range map[string]string{"a{3/4": "a@3", "b{3/4": "b@3"} { // by either source
		synctest.Test(t, func(t *testing.T) {
			w := newWriting(t, informer.Options[*corev1.Pod]{})
			w.says("a+90")
			before := w.in[0].Begins(rig.Named("p"))
			w.says(noticed)
			w.finish(0, ownwrites.Answer{
				Kind: ownwrites.Object, Scope: ownwrites.Inside, Identity: object.Identity{Key: rig.Named("p"), UID: "uid-p", Version: "95"}, Object: kit.Pod("p", "95"), Before: before,
			})
			require.Equal(t, holds, w.holds())
			require.Equal(t, informer.OwnWrites{Linked: true, Doubtful: 1}, w.Status().OwnWrites)
		})
	}
}

// D35: a deletion at an unknown version holds back the object for ten minutes, if the watch does not bring it.
func TestContract_D35_ADeletionIsBelievedForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriting(t, informer.Options[*corev1.Pod]{})
		w.says("a+5")
		w.says("a0")
		time.Sleep(10*time.Minute - time.Second)
		w.says("a+6")
		w.says("a^9")
		require.Empty(t, w.holds())
		time.Sleep(time.Second)
		w.says("a^9")
		require.Equal(t, "a@6", w.holds())
	})
}

// D2, D35: the end of a fence puts an object in place of another one of its name, which another source has brought
// meanwhile. Typed handlers get a delete and an add.
func TestContract_D35_TheEndOfAFenceReplacesAnotherObject(t *testing.T) {
	for name, transform := range strips {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWriting(t, informer.Options[*corev1.Pod]{Transform: transform})
				var kinds []informer.Kind
				w.register(informer.HandlerFunc[*corev1.Pod](func(c informer.Change[*corev1.Pod]) { kinds = append(kinds, c.Kind) }), informer.HandlerOptions{})
				w.says("a+5")
				w.says("a0")
				w.tell(1, deltaOf(deltafifo.Added, kit.Pod("p", "3", kit.UID("another"))))
				time.Sleep(10 * time.Minute)
				w.says("a^9")
				synctest.Wait()
				require.Equal(t, "a", w.holds()[:1])
				require.Equal(t, []informer.Kind{informer.Added, informer.Deleted, informer.Added, informer.Deleted, informer.Added}, kinds)
			})
		})
	}
}

// D13, D36: the transform gets the answer's object. If it fails, the object is not shown; if it does not
// return, the write's call gets its answer when its time is over.
func TestContract_D36_TheTransformOfAnAnswer(t *testing.T) {
	hang := make(chan struct{})
	transform := func(p *corev1.Pod) (*corev1.Pod, error) {
		switch p.ResourceVersion {
		case "7":
			return nil, errors.New("seven")
		case "9":
			<-hang
		}
		p.Labels = map[string]string{"version": p.ResourceVersion}
		return p, nil
	}
	synctest.Test(t, func(t *testing.T) {
		hang = make(chan struct{})
		w := newWriting(t, informer.Options[*corev1.Pod]{Transform: transform})
		w.says("a+5")
		w.says("a!7")
		require.Equal(t, "a@5", w.holds())
		require.Zero(t, w.Status().Quarantined, "its event will be")
		w.says("a!8")
		require.Equal(t, "a@8", w.holds())
		began := time.Now()
		w.says("a!9")
		require.Equal(t, answerPatience, time.Since(began))
		require.Equal(t, "a@8", w.holds())
		require.Equal(t, informer.OwnWrites{Linked: true, Shown: 1, Waiting: 2, Pending: 1}, w.Status().OwnWrites)
		close(hang)
		synctest.Wait()
		w.drain(t)
		require.Equal(t, "a@9", w.holds(), "later than the call")
	})
}

// D7, D35: a written object that the transform renames is not shown, and its event is quarantined.
func TestContract_D35_AWriteThatRenames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWriting(t, informer.Options[*corev1.Pod]{Transform: rig.Rename})
		w.says("a+5")
		w.answer(0, ownwrites.Answer{Kind: ownwrites.Object, Scope: ownwrites.Inside, Identity: object.Identity{Version: "7"}, Object: kit.Pod("p", "7", rig.AsX)})
		require.Equal(t, "a@5", w.holds())
		w.tell(0, deltaOf(deltafifo.Modified, kit.Pod("p", "6")), deltaOf(deltafifo.Modified, kit.Pod("p", "7", rig.AsX)))
		require.Equal(t, "a@6", w.holds())
		require.Equal(t, 1, w.Status().Quarantined)
		require.Equal(t, []string{"add p@5", "update p@5 p@6"}, w.recorded.Take())
	})
}

// D8: Run also waits for a transform that got the answer of a write.
func TestContract_D8_RunWaitsForTheTransformOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		w := newWriting(t, informer.Options[*corev1.Pod]{Transform: func(p *corev1.Pod) (*corev1.Pod, error) {
			if p.ResourceVersion == "9" {
				<-gate
			}
			return p, nil
		}})
		w.says("a!9")
		ended := make(chan struct{})
		go func() { defer close(ended); w.Wait(w.in...) }()
		synctest.Wait()
		require.False(t, kit.Closed(ended))
		close(gate)
		<-ended
	})
}
