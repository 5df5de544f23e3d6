// Package readiness has a probe that reports whether the informers of a program are ready, and their
// problems.
//
//	probe := readiness.New(readiness.Options{}, f.Informers())
//	mux.Handle("/readyz", probe)                       // net/http
//	mgr.AddReadyzCheck("informers", probe.Check)       // controller-runtime's healthz.Checker
//
// A program is not ready until all its informers have been synced. By default the probe reports all other
// conditions without failing. Otherwise every replica and every webhook would go out of service at once while
// the API server cannot be reached. To make the probe fail on a condition, name it in [Options.FailOn].
//
// # Guarantees
//
//   - A response never waits for an informer, a handler or the API server. It reports the state that is known
//     at that moment. Methods are safe for concurrent use.
//   - The text has one line for each problem, with the informer, the condition and the reason. With ?verbose,
//     it also has a line for each informer without problems. The status code is 200 if the program is ready,
//     and 503 otherwise.
//   - Each error is on one line, and a long one is cut. Errors may name objects, so serve the probe only to
//     clients that may see those names. For Secrets and for unknown kinds, names are hidden: the text has
//     only the class of an error, and no field selector.
package readiness
