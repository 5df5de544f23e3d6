package deltafifo

import (
	"math/rand/v2"
	"testing"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

func FuzzDeltaFIFO(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		w := newTwins(t, r)
		for more() {
			w.step()
		}
		w.close()
	})
}
