// Package tier decides how much work tests do in a run.
//
// # Guarantees
//
// Some tests take a long time under the race detector, which would find nothing new in them, because
// they use one goroutine, or repeat what other tests do. They only run without the detector. `make test`
// does both runs. With TIDEMARK_LONG=1, which `make test-long` sets, all tests run with it, too.
package tier
