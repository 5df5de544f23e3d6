package reflector

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
)

// speaking is a source of one pod that calls a function before it reports whether it streams.
type speaking struct {
	Source
	speak func()
}

func newSpeaking(speak func()) speaking {
	return speaking{funcs{list: func(context.Context, metav1.ListOptions) (kruntime.Object, error) {
		return list(strings.Fields("5 a@3")), nil
	}}, speak}
}

func (s speaking) Streaming() Streaming {
	s.speak()
	return StreamingSupported
}

// If a source panics when asked whether it streams, the error names it, and the reflector lists.
func TestASourceThatCannotSayWhatItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed []Failed
		r := runFor(t, time.Minute, newSpeaking(func() { panic("boom") }), &collector{}, Options{Name: "pods", Observe: func(e Event) {
			if e, ok := e.(Failed); ok {
				failed = append(failed, e)
			}
		}})
		require.Equal(t, "5", r.Version())
		require.Len(t, failed, 1)
		require.ErrorIs(t, failed[0].Err, ErrPanic)
		require.ErrorContains(t, failed[0].Err, "list pods: ")
	})
}

// If a source does not return when asked whether it streams, the reflector reports it once, waits,
// and can still be stopped.
func TestASourceThatDoesNotSayWhatItCan(t *testing.T) {
	for name, row := range map[string]struct {
		takes   time.Duration
		version string
	}{
		"for an hour":   {time.Hour, ""},
		"for a minute":  {time.Minute, "5"},
		"for a second":  {time.Second, "5"},
		"for no moment": {0, "5"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed []Failed
				source := newSpeaking(func() { time.Sleep(row.takes) })
				r := runFor(t, 2*time.Minute, source, &collector{}, Options{Name: "pods", Observe: func(e Event) {
					if e, ok := e.(Failed); ok && e.Operation == OpList {
						failed = append(failed, e)
					}
				}})
				time.Sleep(time.Hour)
				require.Equal(t, row.version, r.Version())
				if row.takes <= sourcePatience {
					require.Empty(t, failed)
					return
				}
				require.Len(t, failed, 1)
				require.ErrorIs(t, failed[0].Err, ErrSilent)
				require.ErrorContains(t, failed[0].Err, "list pods: ")
			})
		})
	}
}

// A nil pointer is no client.
func TestNilPointersAreNoClients(t *testing.T) {
	require.Nil(t, From((*nilClient)(nil)))
	require.Nil(t, FromGenerated[*corev1.Pod]((*nilClient)(nil), podGVR))
	require.Nil(t, FromListerWatcher((*cache.ListWatch)(nil)))
	require.Nil(t, FromDynamic((*dynamic.DynamicClient)(nil), podGVR, ""))
	require.Nil(t, FromMetadata((*metadata.Client)(nil), podGVR, ""))
	require.Nil(t, FromControllerRuntime((*cache.ListWatch)(nil), &corev1.Pod{}))
}

// nilClient is a client that cannot be used as a nil pointer.
type nilClient struct{ Client[*corev1.PodList] }

// T16: if a source wraps another one, the outer source decides whether it streams.
func TestContract_T16_TheOutermostSaysWhetherItStreams(t *testing.T) {
	for name, row := range map[string]struct {
		outer, inner Streaming
		first        string
	}{
		"the outer one cannot": {StreamingUnsupported, StreamingSupported, "list"},
		"the outer one can":    {StreamingSupported, StreamingUnsupported, "stream"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, "options for=1s\n")
				r.streaming = row.inner
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				require.NoError(t, New(Tweak(outermost{r, row.outer}, func(*metav1.ListOptions) {}), r, r.options).Run(ctx))
				require.Contains(t, r.lines[1], "-> "+row.first+" ") // after the event that tells of it
			})
		})
	}
}

type outermost struct {
	Source
	streaming Streaming
}

func (o outermost) Unwrap() Source       { return o.Source }
func (o outermost) Streaming() Streaming { return o.streaming }
