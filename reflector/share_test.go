package reflector

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/shard"
)

// The transcripts are of a share by namespace: own is in it, far is foreign.

func TestShare_SelectorIsRefused(t *testing.T)                { play(t) }
func TestShare_RefusalsOfOtherReasons(t *testing.T)           { play(t) }
func TestShare_ForeignEventsAreProgress(t *testing.T)         { play(t) }
func TestShare_BeginningOfAWatchWithoutAVersion(t *testing.T) { play(t) }
func TestShare_ForeignInitialState(t *testing.T)              { play(t) }
func TestShare_ServerFilters(t *testing.T)                    { play(t) }
func TestShare_EmptyFullStateProvesNothing(t *testing.T)      { play(t) }
func TestShare_LaterPageIsRefused(t *testing.T)               { play(t) }

// A selector is the reason for a refusal only if the server says that the request is invalid.
func TestShare_OnlyInvalidRequestsAreRepeated(t *testing.T) {
	set, err := shard.Nth(shard.ByUID, 0, 2)
	require.NoError(t, err)
	for code, repeated := range map[int]bool{
		400: true, 414: true, 422: true, 431: true,
		401: false, 403: false, 404: false, 409: false, 410: false, 429: false, 500: false, 503: false, 504: false,
	} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			server := &pods{}
			server.list = func(_ int, w http.ResponseWriter, r *http.Request) {
				selector := r.URL.Query().Get("shardSelector")
				mu.Lock()
				asked = append(asked, selector)
				mu.Unlock()
				if selector == set.Selector() {
					w.WriteHeader(code)
					return
				}
				_, _ = io.WriteString(w, podList("5", podText("a", "1", "")))
			}
			f := follow(t, neverStreaming(clients["generated"].source(t, server.serve(t))), typeOfPod, Options{Share: set})
			ended := f.watching(1)
			if !repeated {
				ended = func() bool { return len(eventsOf[Failed](f)) > 0 }
			}
			f.until(ended)
			f.mu.Lock()
			defer f.mu.Unlock()
			if repeated {
				require.Len(t, eventsOf[SelectorRefused](f), 1)
				require.Empty(t, eventsOf[Failed](f))
			} else {
				require.Empty(t, eventsOf[SelectorRefused](f))
			}
			mu.Lock()
			defer mu.Unlock()
			require.Equal(t, set.Selector(), asked[0])
			require.Equal(t, repeated, len(asked) > 1 && asked[1] == "")
		})
	}
}

// The question for the newest version is about all objects, and so is a share of the whole ring.
func TestShare_WhatHasNoSelector(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	server := &pods{list: func(_ int, w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		if r.URL.Query().Has("shardSelector") {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, podList("5", podText("a", "1", "")))
	}}
	source := clients["generated"].source(t, server.serve(t))
	version, err := Newest(t.Context(), source)
	require.NoError(t, err)
	require.Equal(t, "5", version)
	f := follow(t, neverStreaming(source), typeOfPod, Options{Share: shard.Whole(shard.ByUID)})
	f.until(f.watching(1))
}

// A foreign Added event at the beginning of a watch without a version moves no version, where its bytes are read, too:
// the next watch begins there as well.
func TestShare_BeginningOfAServersWatch(t *testing.T) {
	set, err := shard.Nth(shard.ByUID, 0, 1<<30) // nothing is in it
	require.NoError(t, err)
	server := &pods{
		list: func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, podList("")) },
		watch: func(n int, w http.ResponseWriter, r *http.Request) {
			if n > 1 {
				stays(w, r)
				return
			}
			_, _ = io.WriteString(w, podEvent([]string{"ADDED", "MODIFIED"}[n], podText("a", "6", "")))
		},
	}
	f := follow(t, neverStreaming(clients["generated"].source(t, server.serve(t))), typeOfPod, Options{Share: set, Backoff: func(int) time.Duration { return 0 }})
	f.until(f.watching(3))
	require.Equal(t, `list at "0", watch at "", watch at "", watch at "6"`, server.requests())
}

// Foreign objects are objects that a slow stream brings: a source that may be unable to stream is not listed for them.
func TestShare_ASlowStreamOfForeignObjects(t *testing.T) {
	set, err := shard.Nth(shard.ByNamespace, 0, 2)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		source := streamingAs(funcs{
			list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				lists++
				return empty(ctx, o)
			},
			watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				w := watch.NewRaceFreeFake()
				go func() {
					for range 50 {
						for range 5 {
							w.Add(parse("far/b@2"))
						}
						time.Sleep(800 * time.Millisecond)
					}
					w.Add(parse("own/a@1"))
					end := parse("own/a@3")
					end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
					w.Action(watch.Bookmark, end)
				}()
				return w, nil
			},
		}.source(), StreamingUnknown)
		sink := newTaking()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer time.Sleep(time.Minute) // until the source has sent what it has
		defer cancel()
		require.NoError(t, New(source, sink, ofType[*partialObject](Options{Share: set})).Run(ctx))
		require.Zero(t, lists)
		require.Equal(t, []string{"begin", "commit"}, []string{<-sink.marks, <-sink.marks})
		require.Equal(t, "a", (<-sink.deltas).Key.Name)
	})
}

// When a full state is committed, the sink can find out whether the server has filtered it.
func TestShare_FilterAtTheCommit(t *testing.T) {
	set, err := shard.Nth(shard.ByNamespace, 0, 2)
	require.NoError(t, err)
	all := shard.Whole(shard.ByNamespace)
	for _, row := range []struct {
		share       shard.Set
		words, want string
	}{
		{set, "5 own/a@1", "filters"},
		{set, "5 own/a@1 far/b@2", "does not filter"},
		{set, "5", ""},
		{all, "5 own/a@1", ""}, // the server is not asked to filter
		{shard.Set{}, "5 own/a@1", ""},
	} {
		sink := &asking{taking: newTaking(), answers: make(chan string, 1)}
		reflectTo(t, funcs{list: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return list(strings.Fields(row.words)), nil
		}}.source(), sink, ofType[*partialObject](Options{Share: row.share}))
		require.Equal(t, row.want, <-sink.answers)
	}
}

// asking is a sink that asks for the status of the share when a full state is committed.
type asking struct {
	*taking
	reflector keeper.Reflector
	answers   chan string
}

func (s *asking) Connect(r keeper.Reflector) keeper.Form {
	s.reflector = r
	return s.taking.Connect(r)
}

func (s *asking) Commit(context.Context, string) error {
	_, server := s.reflector.Foreign()
	s.answers <- server
	return nil
}

// A client's lists of values lie in the list's own memory, which an object must not keep.
func TestShare_OwnObjectsOfAPageAreCopies(t *testing.T) {
	set, err := shard.Nth(shard.ByNamespace, 0, 2)
	require.NoError(t, err)
	page := list(strings.Fields("5 own/a@1 far/b@2 own/c@3")).(*metav1.PartialObjectMetadataList)
	sink := newTaking()
	reflectTo(t, funcs{list: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return page, nil }}.source(), sink, ofType[*partialObject](Options{Share: set}))
	for _, i := range []int{0, 2} {
		d := <-sink.deltas
		require.Equal(t, page.Items[i].Name, d.Key.Name)
		require.NotSame(t, &page.Items[i], d.Object)
	}
}
