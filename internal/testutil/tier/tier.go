package tier

import (
	"os"
	"testing"
)

// Long reports whether to run all tests, regardless of the time.
func Long() bool { return os.Getenv("TIDEMARK_LONG") == "1" }

// SkipRaced skips a test in the run with the race detector.
func SkipRaced(t testing.TB) {
	t.Helper()
	if Raced() && !Long() {
		t.Skip("make test runs it without the race detector, which would find nothing new in it")
	}
}

// Raced reports whether the race detector is on.
func Raced() bool { return raced }
