package engine_test

import (
	"errors"
	"fmt"
	"reflect"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

var errDamaged = errors.New("damaged")

// damagedDecoder decodes pods, except for damaged ones.
type damagedDecoder struct {
	damage atomic.Pointer[damage]
}

type damage struct {
	name     string
	metadata bool // the metadata cannot be decoded either
	fail     func() error
}

func (d *damagedDecoder) Type() reflect.Type { return podDecoder{}.Type() }

func (d *damagedDecoder) Decode(data []byte, f pack.Form) (any, error) {
	obj, err := podDecoder{}.Decode(data, f)
	if by := d.damage.Load(); by != nil && obj.(*corev1.Pod).Name == by.name {
		return nil, by.fail()
	}
	return obj, err
}

func (d *damagedDecoder) Meta(data []byte, f pack.Form) (any, error) {
	if by := d.damage.Load(); by != nil && by.metadata {
		return d.Decode(data, f)
	}
	return podDecoder{}.Decode(data, f)
}

// broken is a running informer whose decoder a test damages.
type broken struct {
	*informer.Informer[*corev1.Pod]
	script  *rig.Script
	decoder *damagedDecoder
	journal *rig.Journal

	mu       sync.Mutex
	recorded []*informer.StorageError
	seen     []int // the number of objects in the store at each reported error
}

// newBroken runs an informer of the pods a, b and c. b and c have the label app=web.
func newBroken(t *testing.T, o informer.Options[*corev1.Pod]) *broken {
	t.Helper()
	w := &broken{
		script:  rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2", kit.Label("app", "web")), kit.Pod("c", "3", kit.Label("app", "web"))),
		decoder: &damagedDecoder{}, journal: &rig.Journal{},
	}
	o.Storage = rig.PackedCold().Storage
	o.Indexes, o.LabelIndexes = append(o.Indexes, byApp), []string{"app"}
	o.Observe = func(e informer.Event) {
		if e, ok := e.(*informer.StorageError); ok {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.recorded = append(w.recorded, e)
			w.seen = append(w.seen, len(w.Indexer().Select("", kit.Selector("app"))))
		}
	}
	w.Informer = informer.New(rig.SourceOf(w.script), o)
	coreOf(w.Informer).Decoding(w.decoder)
	_, err := w.Handle(w.journal, informer.HandlerOptions{})
	require.NoError(t, err)
	rig.Start(t, w.Informer)
	require.NoError(t, w.WaitSynced(t.Context()))
	w.journal.Take()
	return w
}

var byApp = indexer.Index[*corev1.Pod]{Name: "app", Append: func(values []string, p *corev1.Pod) []string {
	return append(values, p.Labels["app"])
}}

func (w *broken) lists() int { lists, _ := w.script.Requests(); return lists }

// damages are the ways in which an object cannot be decoded.
var damages = map[string]damage{
	"an error":                       {fail: func() error { return errDamaged }},
	"a panic":                        {fail: func() error { panic("damaged") }},
	"an error, in the metadata, too": {fail: func() error { return errDamaged }, metadata: true},
	"a panic, in the metadata, too":  {fail: func() error { panic("damaged") }, metadata: true},
}

// Reads leave out a packed object that cannot be decoded, and do not report a wrong type. The first such object is
// reported, and the others are counted.
func TestAnObjectThatCannotBeDecoded(t *testing.T) {
	unverified(t)
	web, webAndOdd := kit.Selector("app=web"), kit.Selector("app=web,!odd")
	reads := map[string]func(t *testing.T, w *broken, left int){
		"Get": func(t *testing.T, w *broken, _ int) {
			_, ok := w.Indexer().Get(rig.Named("b"))
			require.False(t, ok)
		},
		"GetChecked": func(t *testing.T, w *broken, _ int) {
			_, ok, err := indexer.GetChecked[*corev1.Pod](coreOf(w.Informer).Writer().Indexer(), rig.Named("b"))
			require.NoError(t, err)
			require.False(t, ok)
		},
		"client-go's Get": func(t *testing.T, w *broken, _ int) {
			_, ok, err := w.Shared().GetStore().GetByKey("default/b")
			require.NoError(t, err)
			require.False(t, ok)
		},
		"the lister": func(t *testing.T, w *broken, _ int) {
			_, err := w.Lister().Namespace("default").Get("b")
			if err != nil { // it reads twice, and in between all objects may have been replaced
				require.ErrorContains(t, err, "not found")
			}
		},
		"the lister's list": func(t *testing.T, w *broken, left int) {
			all, err := w.Lister().List(labels.Everything())
			require.NoError(t, err)
			require.Len(t, all, left)
		},
		"a list":           func(t *testing.T, w *broken, left int) { require.Len(t, w.Indexer().Snapshot().List(), left) },
		"client-go's list": func(t *testing.T, w *broken, left int) { require.Len(t, w.Shared().GetStore().List(), left) },
		"a loop": func(t *testing.T, w *broken, left int) {
			n := 0
			for p := range w.Indexer().All() {
				require.NotNil(t, p)
				n++
			}
			require.Equal(t, left, n)
		},
		"an index": func(t *testing.T, w *broken, left int) {
			found, err := w.Indexer().Lookup("app", "web")
			require.NoError(t, err)
			require.Len(t, found.List(), left-1)
		},
		"a union": func(t *testing.T, w *broken, left int) {
			found, err := w.Indexer().Find(indexer.Query{Fields: map[string]string{"app": "web"}}, indexer.Query{Fields: map[string]string{"app": ""}})
			require.NoError(t, err)
			require.Len(t, found.List(), left)
		},
		"client-go's index": func(t *testing.T, w *broken, left int) {
			found, err := w.Shared().GetIndexer().ByIndex("app", "web")
			require.NoError(t, err)
			require.Len(t, found, left-1)
		},
		"a selector":                  func(t *testing.T, w *broken, left int) { require.Len(t, w.Indexer().Select("default", web), left-1) },
		"a selector without an index": func(t *testing.T, w *broken, _ int) { require.NotEmpty(t, w.Indexer().Select("", webAndOdd)) },
		"SelectChecked": func(t *testing.T, w *broken, left int) {
			found, err := indexer.SelectChecked[*corev1.Pod](coreOf(w.Informer).Writer().Indexer(), "default", web)
			require.NoError(t, err)
			require.Len(t, found, left-1)
		},
		"SelectChecked of all": func(t *testing.T, w *broken, left int) {
			found, err := indexer.SelectChecked[*corev1.Pod](coreOf(w.Informer).Writer().Indexer(), "", nil)
			require.NoError(t, err)
			require.Len(t, found, left)
		},
		"an index that is added": func(t *testing.T, w *broken, _ int) { // its function is not called with b
			more := byApp
			more.Name = "more"
			require.NoError(t, w.AddIndexes(more))
		},
	}
	for how, d := range damages {
		for name, read := range reads {
			t.Run(how+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newBroken(t, informer.Options[*corev1.Pod]{})
					d.name = "b"
					w.decoder.damage.Store(&d)
					read(t, w, 2)
					synctest.Wait()
					require.Len(t, w.recorded, 1)
					require.ErrorIs(t, w.recorded[0], engine.ErrUnpackable)
					require.ErrorContains(t, w.recorded[0], "damaged")
					if !d.metadata {
						require.Equal(t, rig.Named("b"), w.recorded[0].Key)
					}
					before := w.Status().Storage.Undecodable
					require.Positive(t, before)
					_, ok := w.Indexer().Get(rig.Named("b"))
					require.False(t, ok)
					time.Sleep(time.Hour)
					require.Len(t, w.recorded, 1)
					require.Greater(t, w.Status().Storage.Undecodable, before)
					require.Equal(t, 3, w.Indexer().Len())
					require.Equal(t, 1, w.lists())
					require.Empty(t, w.journal.Take())

					w.script.Send(watch.Modified, kit.Pod("b", "11")) // pinned, for the same reason
					require.Equal(t, []string{"update b@11 b@11"}, w.journal.Take(), "the old object is missing")
					require.Len(t, w.recorded, 2)
					require.NotErrorIs(t, w.recorded[1], engine.ErrUnpackable)
					require.Equal(t, 1, pinnedIn(coreOf(w.Informer)))
					require.Equal(t, "b@11", kit.Text(podAt(t, coreOf(w.Informer), "b")))
				})
			})
		}
	}
}

// Verify mode panics instead.
func TestAnObjectThatCannotBeDecodedPanicsInVerifyMode(t *testing.T) {
	on := verify.On
	verify.On = true
	t.Cleanup(func() { verify.On = on })
	for how, d := range damages {
		t.Run(how, func(t *testing.T) {
			f := newTestCore(t, rig.PackedCold(), 1)
			f.list("10", kit.Pod("a", "1"))
			damaged := &damagedDecoder{}
			d.name = "a"
			damaged.damage.Store(&d)
			f.Decoding(damaged)
			require.Panics(t, func() { podsIn(f.Core).Get(rig.Named("a")) })
		})
	}
}

// A handler does not get an object that cannot be decoded. In place of an old object, it gets the new one.
func TestHandlersAndObjectsThatCannotBeDecoded(t *testing.T) {
	unverified(t)
	for how, d := range damages {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newBroken(t, informer.Options[*corev1.Pod]{})
				var batches []string
				_, err := w.HandleBatch(func(b informer.Batch[*corev1.Pod]) {
					for c := range b.All() {
						batches = append(batches, rig.Line(c))
					}
				}, 2, informer.HandlerOptions{})
				require.NoError(t, err)
				shared := &kit.Recorder{}
				_, err = w.Shared().AddEventHandler(shared.Handler())
				require.NoError(t, err)
				synctest.Wait()
				batches = nil
				shared.Take()

				d.name = "b"
				w.decoder.damage.Store(&d)
				late := &rig.Journal{}
				_, err = w.Handle(late, informer.HandlerOptions{})
				require.NoError(t, err)
				require.ElementsMatch(t, []string{"initial a@1", "initial c@3"}, late.Take(), "in the initial state")
				require.Empty(t, w.journal.Take())
				require.Empty(t, batches)
				require.Empty(t, shared.Take())

				w.decoder.damage.Store(nil)
				w.script.Send(watch.Modified, kit.Pod("a", "20"))
				synctest.Wait()
				w.decoder.damage.Store(&damage{name: "a", fail: d.fail, metadata: d.metadata})
				batches = nil
				w.journal.Take()
				w.script.Send(watch.Modified, kit.Pod("c", "30"))
				w.script.Send(watch.Deleted, kit.Pod("a", "31"))
				w.script.Send(watch.Modified, kit.Pod("c", "32"))
				require.Equal(t, []string{"update c@3 c@30", "delete a@31", "update c@30 c@32"}, w.journal.Take(), "what arrives is compared")
				require.Equal(t, []string{"update c@3 c@30", "delete a@31", "update c@30 c@32"}, batches)
			})
		})
	}
}

// If a method of a type ends the goroutine while an object is read, no lock stays locked.
func TestADecoderThatEndsItsGoroutine(t *testing.T) {
	unverified(t)
	synctest.Test(t, func(t *testing.T) {
		w := newBroken(t, informer.Options[*corev1.Pod]{})
		version, exit := 100, &damage{name: "b", fail: func() error { goruntime.Goexit(); return nil }}
		for name, read := range map[string]func(){
			"Get":      func() { w.Indexer().Get(rig.Named("b")) },
			"a list":   func() { w.Indexer().Snapshot().List() },
			"By":       func() { _ = slices.Collect(w.Indexer().By("app", "web")) },
			"Select":   func() { w.Indexer().Select("default", kit.Selector("app")) },
			"metadata": func() { w.Indexer().Select("", kit.Selector("odd")) },
		} {
			for _, metadata := range []bool{false, true} {
				exit.metadata = metadata
				w.decoder.damage.Store(exit)
				_ = rig.Apart(read)
				w.decoder.damage.Store(nil)
				require.Len(t, w.Indexer().Snapshot().List(), 3, name)
				version++
				w.script.Send(watch.Modified, kit.Pod("a", fmt.Sprint(version)))
				synctest.Wait()
			}
		}
		require.Empty(t, w.recorded)
		require.Equal(t, 1, w.lists())
	})
}
