package engine_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// sourcesOf returns n sources that never answer.
func sourcesOf(n int) []reflector.Source {
	sources := make([]reflector.Source, n)
	for i := range sources {
		sources[i] = rig.SourceOf(rig.Silent{})
	}
	return sources
}

func TestMoreThan4096SourcesAreRefused(t *testing.T) {
	i := informer.Join(sourcesOf(4097), informer.Options[*corev1.Pod]{Observe: rig.Observed})
	require.ErrorContains(t, i.Run(t.Context()), "more than 4096")
	require.ErrorContains(t, i.WaitSynced(t.Context()), "more than 4096")
	require.ErrorContains(t, i.Status().LastError, "more than 4096")

	most := informer.Join(sourcesOf(4096), informer.Options[*corev1.Pod]{Observe: rig.Observed})
	require.NoError(t, most.AddIndexes())
}

// Status.Quarantined counts the quarantined objects of all sources, as they come and go.
func TestQuarantinedObjectsOfManySourcesAreCounted(t *testing.T) {
	j := newJoined(t, informer.Options[*corev1.Pod]{Transform: rig.FailByLabel}, 3)
	sick := func(name string) deltafifo.Delta {
		return deltaOf(deltafifo.Added, kit.Pod(name, "1", rig.Sick))
	}
	for source := range 3 {
		j.beginReplace(source, reflector.SameHistory)
		j.tell(source, sick(fmt.Sprint("a", source)), sick(fmt.Sprint("b", source)))
		j.commitReplace(source, "10")
		require.Equal(t, 2*(source+1), j.Status().Quarantined)
	}
	j.tell(1, sick("a1"), sick("c1"))
	require.Equal(t, 7, j.Status().Quarantined)
	j.tell(1, deltaOf(deltafifo.Modified, kit.Pod("a1", "11")), deltaOf(deltafifo.Deleted, kit.Pod("c1", "12")))
	require.Equal(t, 5, j.Status().Quarantined)
	j.beginReplace(2, reflector.SameHistory)
	j.commitReplace(2, "20")
	require.Equal(t, 3, j.Status().Quarantined)
}

// BenchmarkAnEventOfOneOfManySources applies one change per write section: of one source that is
// far ahead of the others, of each source in turn, and of a source whose object goes in and out of
// quarantine.
func BenchmarkAnEventOfOneOfManySources(b *testing.B) {
	for _, sources := range []int{1, 1000} {
		for _, of := range []string{"one", "each in turn", "quarantined"} {
			b.Run(fmt.Sprintf("%s/sources=%d", of, sources), func(b *testing.B) {
				c := coreOf(informer.Join(sourcesOf(sources), informer.Options[*corev1.Pod]{Observe: rig.Observed}))
				deltas := make([]deltafifo.Delta, sources)
				for source := range deltas {
					d := deltaOf(deltafifo.Modified, kit.Pod(fmt.Sprint("p", source), "1"))
					d.Source = uint16(source)
					added := d
					added.Op = deltafifo.Added
					c.Apply([]deltafifo.Delta{{Op: deltafifo.Begin, Source: d.Source}, added, {Op: deltafifo.Commit, Version: "10", Source: d.Source}})
					deltas[source] = d
				}
				one := make([]deltafifo.Delta, 1)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					source := 0
					if of == "each in turn" {
						source = i % sources
					}
					one[0] = deltas[source]
					one[0].Version = strconv.Itoa(1_000_000 + i)
					if of == "quarantined" && i%2 == 0 {
						one[0].Op = deltafifo.Poisoned
					}
					c.ApplySome(one)
				}
			})
		}
	}
}

// A waiter may read the store's version just before the first replacement, and find the store
// synced just after. It must not conclude that the source has no versions.
func TestAVersionIsComparedWithWhatTheFirstFullStateHasSet(t *testing.T) {
	for range 300 {
		f := newTestCore(t, informer.Options[*corev1.Pod]{}, 1)
		results := make(chan error, 2)
		for range cap(results) {
			go func() {
				for {
					if done, err := f.Reached("1"); done || err != nil {
						results <- err
						return
					}
				}
			}()
		}
		runtime.Gosched()
		f.list("1")
		for range cap(results) {
			require.NoError(t, <-results)
		}
	}
}
