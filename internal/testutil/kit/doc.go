// Package kit is what tests of all packages share: a [Pod], a [Script] that plays an API server by
// hand, and a [Recorder] of what a handler is called with. It imports Kubernetes' modules only, so
// that the tests of every package may use it.
//
// # Guarantees
//
//   - A script answers with copies: a test may change its pods, an informer its objects.
//   - A script's events wait for a reader in order; [Script.Send] returns at once.
//   - A recorder's lines are in the order of the calls, and [Recorder.Take] returns each line once,
//     after nothing moves any more in the synctest bubble.
package kit
