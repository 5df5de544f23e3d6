package reflector

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

func somePod(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID("uid-" + name), ResourceVersion: version, Labels: map[string]string{"app": name},
	}}
}

func endOfState(version string) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: version, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}}
}

func idOf(m metav1.Object) object.Identity {
	return object.Identity{Key: object.Key(m), UID: string(m.GetUID()), Version: m.GetResourceVersion()}
}

// rememberer is a sink that holds objects.
type rememberer struct {
	collector
	keeper.Sink // no other method is called
	holds       map[object.Identity]*corev1.Pod
}

func newRememberer(pods ...*corev1.Pod) *rememberer {
	r := &rememberer{holds: map[object.Identity]*corev1.Pod{}}
	for _, p := range pods {
		r.holds[idOf(p)] = p
	}
	return r
}

func (r *rememberer) Recall(id object.Identity) (any, bool) {
	p, ok := r.holds[id]
	return p, ok
}

func (*rememberer) Reuse([]deltafifo.Delta)              {}
func (*rememberer) Connect(keeper.Reflector) keeper.Form { return keeper.Form{} }

func (r *rememberer) written() []deltafifo.Delta {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.batches...)
}

// A server's bookmark is a version and nothing else, whatever its object has.
func TestBookmarksAreVersions(t *testing.T) {
	named := watch.Event{Type: watch.Bookmark, Object: somePod("a", "8")}
	endWithUID := endOfState("9")
	endWithUID.Object.(*corev1.Pod).UID = "u"
	for name, test := range map[string]struct {
		version string // the version of the sink
		events  []watch.Event
	}{
		"before anything was committed": {"", []watch.Event{named, endOfState("9")}},
		"in the initial state":          {"5", []watch.Event{named, endOfState("9")}},
		"without metadata":              {"5", []watch.Event{{Type: watch.Bookmark, Object: &metav1.Status{}}, endOfState("9")}},
		"at the end, with a UID":        {"5", []watch.Event{endWithUID}},
		"behind the initial state":      {"5", []watch.Event{endOfState("8"), {Type: watch.Bookmark, Object: somePod("a", "9")}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := newRememberer(somePod("a", "8"), somePod("a", "9"))
				events := append(test.events, watch.Event{Type: silent})
				source := &hostile{streams: true, watch: func(int, metav1.ListOptions) (watch.Interface, error) {
					return sends(func(i int) watch.Event { return events[i] }), nil
				}}
				r := runFor(t, time.Second, source.source(), sink, Options{Version: test.version, Observe: func(e Event) {
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

// preferring is a sink that replaces listed objects by its own.
type preferring struct{ *rememberer }

func (p preferring) Reuse(listed []deltafifo.Delta) {
	for i := range listed {
		d := &listed[i]
		if pod, ok := p.Recall(object.Identity{Key: d.Key, UID: d.UID, Version: d.Version}); ok {
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
				runFor(t, time.Second, source.source(), sink, Options{Version: c.holdsVersion})

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
		source := &hostile{list: func(int, metav1.ListOptions) (kruntime.Object, error) { return list, nil }}
		runFor(t, time.Second, source.source(), sink, Options{Version: "5"})

		deltas := sink.written()
		require.Len(t, deltas, 1)
		require.Same(t, a, deltas[0].Object)
	})
}
