// Package tier says how much the tests of a run are to do.
//
// # Guarantees
//
// What takes long under the race detector, and runs on one goroutine, is left to a run without
// it: `make test` does both. With TIDEMARK_LONG=1, as `make test-long` sets it, nothing is left out.
package tier
