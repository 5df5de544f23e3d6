package reflector

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// rememberer is a sink that holds objects.
type rememberer struct {
	collector[*corev1.Pod]
	holds     map[id]*corev1.Pod
	committed chan struct{}
}

func newRememberer(pods ...*corev1.Pod) *rememberer {
	r := &rememberer{holds: map[id]*corev1.Pod{}, committed: make(chan struct{}, 1)}
	for _, p := range pods {
		r.holds[idOf(p)] = p
	}
	return r
}

func (r *rememberer) Recall(key indexer.Key, uid, version string) (*corev1.Pod, bool) {
	p, ok := r.holds[id{key, uid, version}]
	return p, ok
}

func (r *rememberer) Commit(ctx context.Context, version string) error {
	r.committed <- struct{}{}
	return r.collector.Commit(ctx, version)
}

func (r *rememberer) written() []deltafifo.Delta[*corev1.Pod] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.batches...)
}

// streams is a server that answers each watch with the same body and then waits.
func streams(t *testing.T, body []byte, header map[string]string) *rest.Config {
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kruntime.ContentTypeProtobuf+";stream=watch")
		for key, value := range header {
			w.Header().Set(key, value)
		}
		_, _ = w.Write(body) // the client may be gone
		_ = http.NewResponseController(w).Flush()
		<-ended
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(ended) })
	return &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: kruntime.ContentTypeProtobuf}}
}

// relists runs a reflector of a server's pods, whose sink is at a version
// already, until a full state is committed.
func relists(t *testing.T, config *rest.Config, sink *rememberer) []deltafifo.Delta[*corev1.Pod] {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	r := New[*corev1.Pod](From(client.CoreV1().Pods("")), sink, Options{Version: "5"})
	go func() { ended <- r.Run(ctx) }()
	<-sink.committed
	cancel()
	require.NoError(t, <-ended)
	return sink.written()
}

func TestSkipUnchangedPutsBackWhatTheSinkHolds(t *testing.T) {
	body := encoded(t,
		watch.Event{Type: watch.Added, Object: somePod("a", "1")},
		watch.Event{Type: watch.Added, Object: somePod("b", "7")},
		watch.Event{Type: watch.Added, Object: somePod("c", "3")},
		endOfState("9"))
	held := []*corev1.Pod{somePod("a", "1"), somePod("b", "2"), somePod("c", "3")}

	config := streams(t, body, nil)
	for _, d := range relists(t, config, newRememberer(held...)) {
		require.False(t, d.Recalled, "nothing is left out but by the transport")
	}

	config.Wrap(SkipUnchanged)
	deltas := relists(t, config, newRememberer(held...))
	require.Len(t, deltas, 3)
	for i, d := range deltas {
		require.Equal(t, deltafifo.Added, d.Op)
		require.Equal(t, held[i].Name, d.Key.Name)
		require.Equal(t, string(held[i].UID), d.UID)
		require.Equal(t, d.Object.ResourceVersion, d.Version)
		require.Equal(t, i != 1, d.Recalled)
		if d.Recalled {
			require.Same(t, held[i], d.Object)
		} else {
			require.Equal(t, "b", d.Object.Labels["app"], "what has changed comes whole")
		}
	}
}

// What is not a stream in plain protobuf stays as it is: here, a content
// encoding that the transport does not know.
func TestSkipUnchangedLeavesOtherAnswersAlone(t *testing.T) {
	sink := newRememberer(somePod("a", "1"))
	config := streams(t, encoded(t, watch.Event{Type: watch.Added, Object: somePod("a", "1")}, endOfState("9")), map[string]string{"Content-Encoding": "x-none"})
	config.Wrap(SkipUnchanged)
	deltas := relists(t, config, sink)
	require.Len(t, deltas, 1)
	require.False(t, deltas[0].Recalled)
}

// stream is a source of one watch, which may have things left out; whatever
// follows is silent, and lists are empty.
func stream(events func(known omitter) []watch.Event) *recalled {
	return &recalled{events: events, hostile: hostile{
		streams: true,
		list: func(int, metav1.ListOptions) (kruntime.Object, error) {
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}, nil
		},
	}}
}

type recalled struct {
	hostile
	events func(omitter) []watch.Event
}

func (s *recalled) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if s.watches > 0 || o.SendInitialEvents == nil {
		return s.hostile.Watch(ctx, o)
	}
	s.watches++
	known, _ := ctx.Value(omitterKey{}).(omitter)
	events := append(s.events(known), watch.Event{Type: silent})
	return sends(func(i int) watch.Event { return events[i] }), nil
}

// A transport, or a server, that does not keep to what was agreed costs the
// attempt: no object is made up and none is missing.
func TestAStreamThatDoesNotPutBackWhatItLeftOutFails(t *testing.T) {
	a, b := somePod("a", "1"), somePod("b", "2")
	standsFor := func(p *corev1.Pod) watch.Event { return watch.Event{Type: watch.Bookmark, Object: stubOf(p)} }
	for name, events := range map[string]func(omitter) []watch.Event{
		"names what was not left out": func(omitter) []watch.Event { return []watch.Event{standsFor(a), endOfState("9")} },
		"has another order": func(known omitter) []watch.Event {
			known.omit(idOf(a))
			known.omit(idOf(b))
			return []watch.Event{standsFor(b), standsFor(a), endOfState("9")}
		},
		"ends too early": func(known omitter) []watch.Event {
			known.omit(idOf(a))
			return []watch.Event{endOfState("9")}
		},
		"ends too early, with changes": func(known omitter) []watch.Event {
			known.omit(idOf(a))
			return []watch.Event{{Type: watch.Added, Object: b}, endOfState("9")}
		},
		"fails behind a change": func(omitter) []watch.Event {
			return []watch.Event{{Type: watch.Added, Object: b}, standsFor(a), endOfState("9")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failures []error
				sink := newRememberer(a, b)
				runFor[*corev1.Pod](t, time.Second, stream(events), sink, Options{Version: "5", Observe: func(e Event) {
					if f, ok := e.(Failed); ok {
						failures = append(failures, f.Err)
					}
				}})
				require.Len(t, failures, 1)
				require.ErrorIs(t, failures[0], ErrBadAnswer)
				require.Len(t, sink.committed, 1, "a list makes it good")
			})
		})
	}
}

// A server's bookmark that names an object is a bookmark, where the sink has
// nothing to be left out.
func TestABookmarkThatNamesAnObjectIsABookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newRememberer()
		source := stream(func(known omitter) []watch.Event {
			require.Nil(t, known, "nothing was committed yet")
			return []watch.Event{{Type: watch.Bookmark, Object: somePod("a", "8")}, endOfState("9")}
		})
		runFor[*corev1.Pod](t, time.Second, source, sink, Options{})
		require.Equal(t, "9", sink.version)
		require.Empty(t, sink.written())
	})
}
