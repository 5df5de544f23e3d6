package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// A transform that only removes fields is replaced: the fields are dropped, and it is not called. Any other transform
// runs. The last call of SetTransform counts.
func TestTransformDrops(t *testing.T) {
	calls := 0
	transform := func(o any) (any, error) { calls++; return o, nil }
	known := []string{"spec"}
	for name, row := range map[string]struct {
		transforms []func(any) (any, error)
		drops      []string // what is known of the last transform
		calls      int
		labels     int
		spec       bool // is left
	}{
		"one that drops a field":       {[]func(any) (any, error){transform}, known, 0, 0, false},
		"another one":                  {[]func(any) (any, error){transform}, nil, 1, 0, true},
		"none":                         {[]func(any) (any, error){nil}, known, 0, 0, true},
		"none after one that drops":    {[]func(any) (any, error){transform, nil}, known, 0, 0, true},
		"one that drops after another": {[]func(any) (any, error){func(any) (any, error) { panic("replaced") }, transform}, known, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls = 0
				pod := kit.Pod("a", "1")
				pod.Labels, pod.Spec.NodeName = map[string]string{"app": "web"}, "n1"
				o := informer.Options[any]{TransformDrops: func(func(any) (any, error)) []string { return row.drops }}
				o.Drop = []string{"metadata.labels"}
				i := informer.ForManager(rig.SourceOf(rig.NewScript("1", pod)), engine.Options(o))
				for _, f := range row.transforms {
					require.NoError(t, i.SetTransform(f))
				}
				typed, _ := informer.As[*corev1.Pod](i)
				rig.Start(t, typed)
				require.NoError(t, typed.WaitSynced(t.Context()))
				got, err := typed.Lister().Namespace(pod.Namespace).Get(pod.Name)
				require.NoError(t, err)
				require.Equal(t, row.calls, calls)
				require.Len(t, got.Labels, row.labels)
				require.Equal(t, row.spec, got.Spec.NodeName == "n1")
			})
		})
	}
}

// A field that cannot be dropped ends the run, and a wait says why.
func TestTransformDropsWhatIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := informer.Options[any]{Observe: rig.Observed, TransformDrops: func(func(any) (any, error)) []string { return []string{"metadata.name"} }}
		i := informer.ForManager(rig.SourceOf(rig.NewScript("1")), engine.Options(o))
		require.NoError(t, i.SetTransform(func(o any) (any, error) { return o, nil }))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wait, err := i.Start(ctx)
		require.NoError(t, err)
		require.ErrorIs(t, wait(), reflector.ErrBadOptions)
		require.ErrorIs(t, i.WaitSynced(ctx), reflector.ErrBadOptions)
		require.NoError(t, ctx.Err())
	})
}
