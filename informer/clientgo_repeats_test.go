package informer_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/informer/internal/limits"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
)

// The watch error handler gets the first error of an object at once. Further errors of the object
// are held back for a second, and the next report says how many there were.
func TestRepeatsForAWatchErrorHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript("10")
		i := newShared(kit.ListerWatcher{Source: s}, &corev1.Pod{}, 0, nil)
		require.NoError(t, i.SetTransform(func(obj any) (any, error) {
			if obj.(*corev1.Pod).Labels["poison"] != "" {
				return nil, rig.ErrPoison
			}
			return obj, nil
		}))
		var recorded []string
		require.NoError(t, i.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { recorded = append(recorded, err.Error()) }))
		startClientgo(t, i)
		for n := range 50 {
			s.Send(watch.Modified, kit.Pod("a", fmt.Sprint(11+n), rig.Sick))
		}
		s.Send(watch.Modified, kit.Pod("b", "80", rig.Sick))
		time.Sleep(2 * limits.RepeatEvery)
		s.Send(watch.Modified, kit.Pod("a", "90", rig.Sick))
		time.Sleep(2 * limits.RepeatEvery)
		s.Send(watch.Modified, kit.Pod("a", "91", rig.Sick))
		synctest.Wait()
		require.Len(t, recorded, 4, "%q", recorded)
		require.Contains(t, recorded[1], "default/b")
		require.Contains(t, recorded[2], "49 times")
		require.Equal(t, recorded[0], recorded[3])
	})
}

// B98: a panic of the handler comes out of the controller's Run, and no further event is delivered.
func TestContract_B98_APanicOfNewInformersHandlerComesOutOfRun(t *testing.T) {
	kit.CaptureLog(t)
	synctest.Test(t, func(t *testing.T) {
		var recorded []string
		_, c := newOneHandler(kit.ListerWatcher{Source: rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))}, &corev1.Pod{}, 0, cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				recorded = append(recorded, obj.(*corev1.Pod).Name)
				panic("of the handler")
			},
		})
		require.PanicsWithValue(t, "of the handler", func() { c.RunWithContext(t.Context()) })
		require.Len(t, recorded, 1)
	})
}

// Where panics do not end the process, each panic costs the handler one change.
func TestAPanicOfNewInformersHandlerThatIsSurvived(t *testing.T) {
	kit.SurvivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		recorded := 0
		_, c := newOneHandler(kit.ListerWatcher{Source: rig.NewScript("10", kit.Pod("a", "1"), kit.Pod("b", "2"))}, &corev1.Pod{}, 0, cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { recorded++; panic("of the handler") },
		})
		runsController(t, c)
		require.Equal(t, 2, recorded)
		require.True(t, c.HasSynced())
	})
}
