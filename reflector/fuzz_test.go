package reflector

import (
	"math/rand/v2"
	"testing"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
)

// versions are valid resourceVersions and invalid ones.
var versions = []string{
	"", "0", "1", "3", "7", "9", "10", "99", "100", "00", "07", "x", "-1", "1.5", " 1", "9223372036854775808", "18446744073709551616",
}

// Long sequences of inputs, with any versions and facts, obey the same rules as the short ones.
func FuzzMachine(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		w := newWorld(Streaming(r.IntN(3)), []int64{0, 0, 7}[r.IntN(3)])
		for more() && w.action.op != doStop {
			in := someInput(r, &w)
			if wrong := w.step(in); wrong != "" {
				t.Fatalf("%s after %+v: %+v", wrong, in, w)
			}
		}
	})
}

// someInput returns a random possible input, with random facts.
func someInput(r *rand.Rand, w *world) input {
	all := w.inputs("3")[1:] // a stop is the end of the word
	if len(all) == 0 || r.IntN(64) == 0 {
		return input{kind: inStop}
	}
	in := all[r.IntN(len(all))]
	switch in.kind {
	case inPage, inEvents, inBookmark:
		in.version = versions[r.IntN(len(versions))]
	}
	in.healthy = in.healthy || r.IntN(16) == 0
	in.enableStreams = in.enableStreams || r.IntN(16) == 0
	return in
}
