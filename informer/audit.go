package informer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/audit"
)

// frozen returns the store at one moment, and what it was read from.
func (c *core) frozen() (f audit.Frozen) {
	share := c.share.Load()
	f.Foreign = func(m metav1.Object) bool { return share != nil && !share.Set().Has(m.GetNamespace(), m.GetUID()) }
	c.writer.Freeze(func(tx *indexer.Tx) {
		stored := tx.Snapshot()
		f.Objects = stored.All()
		for i, source := range c.sources {
			f.Sources = append(f.Sources, audit.Source{Version: c.reached.publishedVersion(uint16(i)), List: source.list}) //nolint:gosec // at most maxSources
			for fenced := range c.states[i].fences.All() {
				f.Pending = append(f.Pending, fenced.Key)
			}
		}
	})
	return f
}
