// Package kit contains helpers for the tests of all packages: a [Pod], a [Script] that acts as an API
// server controlled by the test, a [Recorder] of a handler's calls, a [Checker] that compares a
// handler's calls with each other and with the store, and an [Onlooker] that reads an informer from
// within its callbacks. Package kit/cluster generates the objects of a busy cluster. Both import only
// Kubernetes' modules, so that the tests of every package can use them.
//
// # Guarantees
//
//   - A script answers with copies. A test may change its pods, and an informer its objects.
//   - A script's events wait for a reader in order; [Script.Send] returns at once.
//   - A recorder's lines are in the order of the calls. [Recorder.Take] waits until all goroutines
//     of the synctest bubble are blocked, and returns each line once.
//   - A checker records each call that breaks a rule of [Change], and continues with its object.
package kit
