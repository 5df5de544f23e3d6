// Package kit has the helpers that tests of all packages share: a [Pod], a [Script] that acts as an
// API server under the test's control, a [Recorder] of a handler's calls, a [Checker] that
// compares a handler's calls with each other and with the store, and an [Onlooker] that looks at an
// informer from within its callbacks. Package kit/cluster makes up the
// objects of a busy cluster. Both import Kubernetes' modules only, so that the tests of every
// package may use them.
//
// # Guarantees
//
//   - A script answers with copies: a test may change its pods, an informer its objects.
//   - A script's events wait for a reader in order; [Script.Send] returns at once.
//   - A recorder's lines are in the order of the calls, and [Recorder.Take] returns each line once,
//     after nothing moves any more in the synctest bubble.
//   - A checker records each call that breaks a rule of [Change], and goes on with its object.
package kit
