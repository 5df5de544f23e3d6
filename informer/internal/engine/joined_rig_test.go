package engine_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// joined is a core with several sources, driven by the test: deltas written to the source's sinks
// pass through the transform and are applied at once.
type joined struct {
	*testCore
	in []*engine.Sink
}

func newJoined(t *testing.T, o informer.Options[*corev1.Pod], sources int) *joined {
	j := &joined{testCore: newTestCore(t, o, sources)}
	for source := range sources {
		j.in = append(j.in, j.Sink(uint16(source)))
	}
	return j
}

func (j *joined) tell(source int, deltas ...deltafifo.Delta) {
	require.NoError(j.t, j.in[source].Write(j.t.Context(), deltas))
	j.drain(j.t)
}

func (j *joined) beginReplace(source int, h reflector.History) {
	require.NoError(j.t, j.in[source].Begin(j.t.Context(), h))
	j.drain(j.t)
}

func (j *joined) commitReplace(source int, version string) {
	require.NoError(j.t, j.in[source].Commit(j.t.Context(), version))
	j.drain(j.t)
}

// hideIdentity is a transform that moves the version into a label, and gives all objects the same
// version and UID.
func hideIdentity(p *corev1.Pod) (*corev1.Pod, error) {
	p.Labels = map[string]string{"version": p.ResourceVersion}
	p.ResourceVersion, p.UID = "1", "same"
	return p, nil
}

// disguiseEven applies disguise to objects with even versions.
func disguiseEven(p *corev1.Pod) (*corev1.Pod, error) {
	if n, err := strconv.Atoi(p.ResourceVersion); err != nil || n%2 != 0 {
		return p, nil //nolint:nilerr // a version that is no number is not even
	}
	return hideIdentity(p)
}

func (j *joined) says(source int, what byte, version string) {
	p := kit.Pod("p", version)
	switch what {
	case '+':
		j.tell(source, deltaOf(deltafifo.Modified, p))
	case '-':
		j.tell(source, deltaOf(deltafifo.Deleted, p))
	case '[', '=', '.':
		j.beginReplace(source, reflector.SameHistory)
	case '{':
		j.beginReplace(source, reflector.NewHistory)
	}
	switch what {
	case '[', '=', '{':
		j.tell(source, deltaOf(deltafifo.Added, p))
	}
	switch what {
	case '=', '.', ']':
		j.commitReplace(source, "50")
	}
}

// holds returns the source and the version of the stored pod.
func (j *joined) holds() string {
	p, ok := j.Writer().Indexer().Get(rig.Named("p"))
	if !ok {
		return ""
	}
	var stored indexer.Stored
	j.Writer().Freeze(func(tx *indexer.Tx) { stored, _ = tx.Get(rig.Named("p")) })
	return string(rune('a'+stored.Source)) + "@" + j.versionOf(p.(*corev1.Pod))
}

func (j *joined) versionOf(p *corev1.Pod) string {
	if version, ok := p.Labels["version"]; ok {
		return version
	}
	return p.ResourceVersion
}
