package chance

import (
	"math/rand/v2"
	"testing"
)

// maxBytes bounds the run of a test: longer ones only take longer.
const maxBytes = 1 << 14

// Fuzz lets the fuzzer play a test: until there is no more, with the random
// numbers that come of its bytes. It begins with some runs made by chance.
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
