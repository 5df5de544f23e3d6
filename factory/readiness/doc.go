// Package readiness tells a probe whether the informers of a program are ready, and what
// is wrong with them.
//
//	probe := readiness.New(readiness.Options{}, factory.InUse(f))
//	mux.Handle("/readyz", probe)                       // net/http
//	mgr.AddReadyzCheck("informers", probe.Check)       // controller-runtime's healthz.Checker
//
// A program is not ready while one of its informers has never been complete. All else is
// told and changes nothing, since a probe that fails while the API server is away takes
// every replica, and every webhook, out of service at once. Who wants it to fail names
// the condition in [Options.FailOn].
//
// # Guarantees
//
//   - An answer never waits for an informer, a handler or the API server: it tells what
//     is known. Methods are safe for any goroutine.
//   - An informer that nobody uses, and that its factory keeps for who comes next, is not
//     asked for.
//   - The text is one line for each thing that is wrong: the informer, the condition and
//     why. With ?verbose there is a line for each informer. ?format=json tells the same
//     in full. The status is 200 where the program is ready, and 503 otherwise.
//   - Errors are told on one line, and cut where they are long. They may name objects:
//     serve the probe where those may be seen.
package readiness
