package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/rig"
	"github.com/tidemark-k8s/tidemark/shard"
)

// D35: own writes are shown within the share alone, and a write outside of it is nothing to wait for.
func TestOwnWritesAndTheShare(t *testing.T) {
	inside, outside := rig.Only(shard.ByUID, "uid-p"), rig.Only(shard.ByUID, "uid-q")
	for _, row := range []struct {
		words  string
		share  shard.Set
		holds  string
		counts informer.OwnWrites
	}{
		{"a!7", inside, "a@7", informer.OwnWrites{Shown: 1, Pending: 1}},
		{"a+5 a0", inside, "", informer.OwnWrites{Shown: 1, Pending: 1}},
		{"a!7", rig.Only(shard.ByNamespace, "default"), "a@7", informer.OwnWrites{Shown: 1, Pending: 1}},
		{"a!7", outside, "", informer.OwnWrites{Outside: 1}},
		{"ax7", outside, "", informer.OwnWrites{Outside: 1}},
		{"a0", outside, "", informer.OwnWrites{Outside: 1}},
		{"ae7", outside, "", informer.OwnWrites{Outside: 1}},
		{"a?7", outside, "", informer.OwnWrites{Outside: 1}},
		{"a~7", outside, "", informer.OwnWrites{Outside: 1}},
		{"a!7 a^9 a0", outside, "", informer.OwnWrites{Outside: 2}},
		{"a!7", rig.Only(shard.ByNamespace, "other"), "", informer.OwnWrites{Outside: 1}},
		{"a*", rig.Only(shard.ByNamespace, "other"), "", informer.OwnWrites{Outside: 1}},
		{"a*", rig.Only(shard.ByNamespace, "default"), "", informer.OwnWrites{Doubtful: 1}},
		{"a*", outside, "", informer.OwnWrites{Doubtful: 1}}, // the share of an object without a UID is unknown
	} {
		t.Run(row.words+" "+row.share.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWritingOf(t, informer.Options[*corev1.Pod]{}, 1)
				w.Read(row.share)
				for word := range strings.FieldsSeq(row.words) {
					w.says(word)
				}
				require.Equal(t, row.holds, w.holds())
				row.counts.Linked = true
				require.Equal(t, row.counts, w.Status().OwnWrites)
			})
		})
	}
}
