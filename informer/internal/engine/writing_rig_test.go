package engine_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// writing is a core whose sources are linked: the test answers writes of the pod "p".
type writing struct {
	*joined
	recorded   kit.Recorder // by client-go's handler
	registered cache.ResourceEventHandlerRegistration
}

func newWriting(t *testing.T, o informer.Options[*corev1.Pod]) *writing { return newWritingOf(t, o, 2) }

// newWritingOf is newWriting with another number of sources.
func newWritingOf(t *testing.T, o informer.Options[*corev1.Pod], sources int) *writing {
	w := &writing{joined: newJoined(t, o, sources)}
	w.start()
	for _, sink := range w.in {
		sink.Linked(false)
	}
	var err error
	w.registered, err = w.view.Shared().AddEventHandler(w.recorded.Handler())
	require.NoError(t, err)
	w.synced()
	return w
}

// answer gives an answer to the sink of a source, as a write that began now.
func (w *writing) answer(source int, a ownwrites.Answer) {
	a.Key = rig.Named("p")
	a.Before = w.in[source].Begins(a.Key)
	if a.Kind != ownwrites.Doubt && a.UID == "" {
		a.UID = "uid-p"
	}
	w.finish(source, a)
}

// answerPatience is the time for which a call of the program is held.
const answerPatience = time.Second

// finish gives an answer to the sink of a source, as a transport does.
func (w *writing) finish(source int, a ownwrites.Answer) {
	a.Counted = new(atomic.Bool)
	if a.Kind == ownwrites.Doubt {
		w.in[source].Missed(a)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.in[source].Answered(a)
	}()
	synctest.Wait()
	if w.Queued() > 0 {
		w.drain(w.t)
	}
	select {
	case <-done:
	case <-time.After(answerPatience):
		w.in[source].Missed(a)
	}
}

// says makes a source, or the answer to a write for it, say something about the pod. A word is the source,
// what it says, and a version: put (+), deleted (-), bookmark (^), a list at the version after the slash
// with (=) or without (.) the pod, such a list in a new history ({); an answer with the pod (!), of a pod
// that the source does not read (~), or perhaps (?), of a deleted pod (x), of another one that had taken the
// name and was deleted (X), of a deletion without version (0), of a pod without finalizers (e), no answer (*).
// "h+" and "h-" are writes by hand.
func (w *writing) says(word string) {
	source, what, version := int(word[0]-'a'), word[1], word[2:]
	version, listed, _ := strings.Cut(version, "/")
	p := kit.Pod("p", version)
	written := ownwrites.Answer{Kind: ownwrites.Object, Scope: ownwrites.Inside, Identity: object.Identity{Version: version}, Object: p}
	store := w.store()
	switch word {
	case "h+":
		require.NoError(w.t, store.Update(kit.Pod("p", "hand")))
		return
	case "h-":
		require.NoError(w.t, store.Delete(p))
		return
	}
	switch what {
	case '+':
		w.tell(source, deltaOf(deltafifo.Modified, p))
	case 'f':
		p.Finalizers = []string{"example.com/wait"}
		w.tell(source, deltaOf(deltafifo.Modified, p))
	case '-':
		w.tell(source, deltaOf(deltafifo.Deleted, p))
	case '^':
		w.tell(source, deltafifo.Delta{Op: deltafifo.Bookmark, Version: version})
	case '=', '.', '{':
		h := reflector.SameHistory
		if what == '{' {
			h = reflector.NewHistory
		}
		w.beginReplace(source, h)
		if what != '.' {
			w.tell(source, deltaOf(deltafifo.Added, p))
		}
		w.commitReplace(source, listed)
	case '!':
		w.answer(source, written)
	case '~', '?':
		written.Scope, written.Object = map[byte]ownwrites.Scope{'~': ownwrites.Outside, '?': ownwrites.Unknown}[what], nil
		w.answer(source, written)
	case 'x':
		written.Kind = ownwrites.Deleted
		w.answer(source, written)
	case 'X':
		p.UID = "another"
		written.Kind, written.UID = ownwrites.Deleted, "another"
		w.answer(source, written)
	case '0':
		w.answer(source, ownwrites.Answer{Kind: ownwrites.Undated})
	case 'e':
		written.Kind = ownwrites.Emptied
		w.answer(source, written)
	case '*':
		w.answer(source, ownwrites.Answer{})
	default:
		require.Fail(w.t, "no such word: "+word)
	}
}
