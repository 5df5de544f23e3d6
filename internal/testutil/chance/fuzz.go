package chance

import (
	"math/rand/v2"
	"testing"
)

// maxBytes limits a run. More bytes would only make it longer.
const maxBytes = 1 << 14

// Fuzz fuzzes a test. play gets its random numbers from r until more returns false. The seed corpus
// consists of some random runs.
func Fuzz(f *testing.F, play func(t *testing.T, more func() bool, r *rand.Rand)) {
	f.Helper()
	f.Add([]byte{})
	for seed := range byte(4) {
		data := make([]byte, 512<<seed)
		_, _ = rand.NewChaCha8([32]byte{seed}).Read(data) // never fails
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, r := New(data[:min(len(data), maxBytes)])
		play(t, b.More, r)
	})
}
