package tier

import (
	"os"
	"testing"
)

// Long reports whether to run everything, however long it takes.
func Long() bool { return os.Getenv("TIDEMARK_LONG") == "1" }

// SkipRaced leaves a test to the run without the race detector.
func SkipRaced(t testing.TB) {
	t.Helper()
	if Raced() && !Long() {
		t.Skip("make test runs it without the race detector: the detector would find nothing new in it")
	}
}

// Raced reports whether the race detector is on.
func Raced() bool { return raced }
