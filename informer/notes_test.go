package informer_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// streamless is a script whose answers about streams are chosen by the test.
type streamless struct {
	*rig.Script
	streaming reflector.Streaming
	stream    func() (watch.Interface, error)
}

func (s streamless) source() reflector.Source {
	source := rig.SourceOf(s)
	source.Streams = s.streaming
	return source
}

func (s streamless) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if o.SendInitialEvents != nil {
		return s.stream()
	}
	return s.Script.Watch(ctx, o)
}

// errNotStreaming is the error of a server without WatchList.
var errNotStreaming = apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: "ListOptions"}, "", nil)

// A source without versions is noted once in Status, over several lists.
func TestAnUnknownHistoryIsNotedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := rig.NewScript("", kit.Pod("a", ""))
		i := informer.New(rig.SourceOf(source), informer.Options[*corev1.Pod]{Observe: rig.Observed})
		require.Empty(t, i.Status().Notes)
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		time.Sleep(time.Second)
		source.Expire()
		time.Sleep(time.Second)
		st := i.Status()
		require.Len(t, st.Notes, 1)
		require.Contains(t, st.Notes[0], "history is unknown")
		cancel()
		require.NoError(t, wait())
	})
}

// An informer of a server that does not stream is healthy: no error is counted or logged, and one
// line says why it lists.
func TestAServerThatDoesNotStreamIsNoError(t *testing.T) {
	for name, source := range map[string]streamless{
		"refused": {nil, reflector.StreamingSupported, func() (watch.Interface, error) { return nil, errNotStreaming }},
		"refused, where it was but tried": {nil, reflector.StreamingUnknown, func() (watch.Interface, error) {
			return nil, apierrors.NewBadRequest("no such parameter")
		}},
		"a watch that brings nothing, as a fake's": {nil, reflector.StreamingUnknown, func() (watch.Interface, error) { return watch.NewFake(), nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source.Script = rig.NewScript("5", kit.Pod("a", "3"))
				log := &kit.Log{}
				i := informer.New(source.source(), informer.Options[*corev1.Pod]{})
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), log.Logger()))
				defer cancel()
				wait, err := i.Start(ctx)
				require.NoError(t, err)
				for range 11 { // minutes, after which a stream is tried again
					time.Sleep(time.Minute)
					source.Send(watch.Modified, kit.Pod("a", "4"))
				}
				st := i.Status()
				require.True(t, st.Synced)
				require.Zero(t, st.Errors)
				require.NoError(t, st.LastError)
				require.Len(t, st.Notes, 1)

				source.Set("7")
				source.Expire()
				time.Sleep(time.Minute)
				require.Zero(t, i.Status().Objects, "it has not listed")
				require.Equal(t, st.Notes, i.Status().Notes)
				require.Equal(t, 1, log.Count("listed, not streamed"))
				for _, line := range log.Lines() {
					require.False(t, strings.HasPrefix(line, "E"), line)
				}
				cancel()
				require.NoError(t, wait())
			})
		})
	}
}

// A stream that breaks, and that a list answers, is noted and logged once with its reason, and is no
// error (D10).
func TestContract_D10_ABrokenStreamIsNoted(t *testing.T) {
	events := func(all ...watch.Event) func() (watch.Interface, error) {
		return func() (watch.Interface, error) {
			w := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: len(all)})
			for _, e := range all {
				w.Action(e.Type, e.Object)
			}
			w.Stop()
			return w, nil
		}
	}
	boom := apierrors.NewInternalError(errors.New("boom"))
	for name, stream := range map[string]func() (watch.Interface, error){
		"closes":                  events(),
		"closes behind an object": events(watch.Event{Type: watch.Added, Object: kit.Pod("a", "3")}),
		"an error as an event":    events(watch.Event{Type: watch.Error, Object: &boom.ErrStatus}),
		"an error":                func() (watch.Interface, error) { return nil, boom },
		"panics":                  func() (watch.Interface, error) { panic("boom") },
		"not found": func() (watch.Interface, error) {
			return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "", 0, true)
		},
	} {
		for _, streaming := range []reflector.Streaming{reflector.StreamingUnknown, reflector.StreamingSupported} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					log := &kit.Log{}
					i := informer.New(streamless{rig.NewScript("5", kit.Pod("a", "3")), streaming, stream}.source(), informer.Options[*corev1.Pod]{})
					ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), log.Logger()))
					defer cancel()
					wait, err := i.Start(ctx)
					require.NoError(t, err)
					time.Sleep(time.Minute)
					st := i.Status()
					require.True(t, st.Synced)
					require.Zero(t, st.Errors)
					require.NoError(t, st.LastError)
					require.Len(t, st.Notes, 1)
					require.Equal(t, 1, log.Count("listed, not streamed"), log.Lines())
					for _, line := range log.Lines() {
						require.False(t, strings.HasPrefix(line, "E"), line)
					}
					cancel()
					require.NoError(t, wait())
				})
			})
		}
	}
}

// StreamPatience is the time after which a silent stream is followed by a list, and patience must
// not be negative.
func TestPatienceOfTheOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func() (watch.Interface, error) { return watch.NewFake(), nil }
		source := streamless{rig.NewScript("5", kit.Pod("a", "3")), reflector.StreamingSupported, silent}.source()
		i := informer.New(source, informer.Options[*corev1.Pod]{Observe: rig.Observed, StreamPatience: 42 * time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		start := time.Now()
		require.NoError(t, i.WaitSynced(ctx))
		require.Equal(t, 42*time.Second, time.Since(start))
		cancel()
		require.NoError(t, wait())
		i = informer.New(source, informer.Options[*corev1.Pod]{Observe: rig.Observed, ListPatience: -1})
		require.ErrorIs(t, i.Run(t.Context()), informer.ErrOutOfRange)
	})
}
