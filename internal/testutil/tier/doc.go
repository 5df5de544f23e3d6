// Package tier says how much tests have to do in a run.
//
// # Guarantees
//
// Tests that take long under the race detector, and in which it would find nothing new (they use
// one goroutine, or repeat what other tests run under it), are left to a run without the detector:
// `make test` does both runs. With TIDEMARK_LONG=1, which `make test-long` sets, nothing is left
// out.
package tier
