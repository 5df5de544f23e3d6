package reflector

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// rememberer is a sink that holds objects.
type rememberer struct {
	collector
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

func (r *rememberer) Recall(key indexer.Key, uid, version string) (any, bool) {
	p, ok := r.holds[id{key, uid, version}]
	return p, ok
}

func (r *rememberer) Commit(ctx context.Context, version string) error {
	r.committed <- struct{}{}
	return r.collector.Commit(ctx, version)
}

func (r *rememberer) written() []deltafifo.Delta {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.batches...)
}

// stream is a source of one watch, from which objects may be left out. Later watches are silent, and
// lists are empty.
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

// If a transport or server sends placeholders that do not match the omitted objects, the attempt
// fails: no object is invented, and none is missing.
func TestAStreamThatDoesNotPutBackWhatItLeftOutFails(t *testing.T) {
	a, b := somePod("a", "1"), somePod("b", "2")
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
		"fails instead": func(known omitter) []watch.Event {
			known.omit(idOf(a))
			return []watch.Event{{Type: watch.Error, Object: &metav1.Status{Reason: metav1.StatusReasonInternalError}}, endOfState("9")}
		},
		"fails behind a change": func(omitter) []watch.Event {
			return []watch.Event{{Type: watch.Added, Object: b}, standsFor(a), endOfState("9")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var refused []string
				sink := newRememberer(a, b)
				runFor(t, time.Second, stream(events), sink, Options{Version: "5", Observe: func(e Event) {
					if r, ok := e.(StreamRefused); ok {
						refused = append(refused, r.Reason)
					}
				}})
				require.Len(t, refused, 1)
				if name != "fails instead" {
					require.Contains(t, refused[0], ErrBadAnswer.Error())
				}
				require.Len(t, sink.written(), map[string]int{"ends too early, with changes": 1}[name], "the batch that failed is dropped")
				require.Len(t, sink.committed, 1, "a list makes it good")
			})
		})
	}
}

// After a bookmark no object is restored, so none may be left out, even if the transport has not
// recognised the bookmark.
func TestNothingIsLeftOutBehindABookmark(t *testing.T) {
	a, b := somePod("a", "1"), somePod("b", "2")
	r := &recall{sink: newRememberer(a, b)}
	require.True(t, r.omit(idOf(a)))
	var d deltafifo.Delta
	require.NoError(t, r.restore(&d, standsFor(a)))
	require.Same(t, a, d.Object)
	require.NoError(t, r.end())
	require.False(t, r.omit(idOf(b)))
}

// A server's bookmark is never taken for a placeholder, whatever its content.
func TestBookmarksThatStandForNothing(t *testing.T) {
	nameless := somePod("z", "8")
	nameless.UID = ""
	for name, test := range map[string]struct {
		version string // the version of the sink
		events  []watch.Event
	}{
		"before anything was committed": {"", []watch.Event{{Type: watch.Bookmark, Object: somePod("a", "8")}, endOfState("9")}},
		"without metadata":              {"5", []watch.Event{{Type: watch.Bookmark, Object: &metav1.Status{}}, endOfState("9")}},
		"with a name only":              {"5", []watch.Event{{Type: watch.Bookmark, Object: nameless}, endOfState("9")}},
		"with an annotation":            {"5", []watch.Event{endWithUID()}},
		"behind the initial state":      {"5", []watch.Event{endOfState("8"), {Type: watch.Bookmark, Object: somePod("a", "9")}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := newRememberer()
				source := stream(func(known omitter) []watch.Event {
					require.Equal(t, test.version == "", known == nil)
					return test.events
				})
				r := runFor(t, time.Second, source, sink, Options{Version: test.version, Observe: func(e Event) {
					_, failed := e.(Failed)
					require.False(t, failed, "%+v", e)
				}})
				require.Equal(t, "9", r.Version())
				for _, d := range sink.written() {
					require.Equal(t, deltafifo.Bookmark, d.Op)
				}
			})
		})
	}
}

func standsFor(p *corev1.Pod) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: stubOf(p)}
}

func endWithUID() watch.Event {
	e := endOfState("9")
	e.Object.(*corev1.Pod).UID = "u"
	return e
}

// preferring is a sink that replaces listed objects by its own.
type preferring struct{ *rememberer }

func (p preferring) Reuse(listed []deltafifo.Delta) {
	for i := range listed {
		d := &listed[i]
		if pod, ok := p.Recall(d.Key, d.UID, d.Version); ok {
			d.Object, d.Recalled = pod, true
		}
	}
}

// The sink gets its own object back instead of a listed one of the same version, unless equal
// versions may be of different objects. Other objects are copies, and do not keep the page.
func TestAListGivesTheSinkItsOwnObjectsBack(t *testing.T) {
	for name, c := range map[string]struct {
		holdsVersion, listed string
		want                 bool
	}{
		"of one history":              {"5", "9", true},
		"before any full state":       {"", "9", false},
		"of an older version":         {"5", "4", false},
		"of a list without a version": {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				held, other := somePod("a", "1"), somePod("b", "2")
				list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: c.listed}, Items: []corev1.Pod{*held, *other}}
				sink := preferring{newRememberer(held)}
				source := &hostile{list: func(int, metav1.ListOptions) (kruntime.Object, error) { return list, nil }}
				runFor(t, time.Second, source, sink, Options{Version: c.holdsVersion})

				deltas := sink.written()
				require.Len(t, deltas, 2)
				require.Equal(t, c.want, deltas[0].Recalled)
				require.Equal(t, c.want, deltas[0].Object == any(held))
				require.False(t, deltas[1].Recalled)
				for i, d := range deltas {
					require.Equal(t, &list.Items[i], d.Object)
					require.NotSame(t, &list.Items[i], d.Object, "the sink holds an item of the list, and with it the whole page")
				}
			})
		})
	}
}

// Objects outside the memory of a page are not copied.
func TestWhatAListPointsToIsNotCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := somePod("a", "1")
		list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []kruntime.RawExtension{{Object: a}}}
		sink := preferring{newRememberer()}
		runFor(t, time.Second, &hostile{list: func(int, metav1.ListOptions) (kruntime.Object, error) { return list, nil }}, sink, Options{Version: "5"})

		deltas := sink.written()
		require.Len(t, deltas, 1)
		require.Same(t, a, deltas[0].Object)
	})
}
