// Package readiness is a probe that reports whether the informers of a program are ready, and what
// is wrong with them.
//
//	probe := readiness.New(readiness.Options{}, f.Informers())
//	mux.Handle("/readyz", probe)                       // net/http
//	mgr.AddReadyzCheck("informers", probe.Check)       // controller-runtime's healthz.Checker
//
// A program is not ready while one of its informers has never been synced. By default all other
// conditions are reported, but do not fail the probe: if it failed whenever the API server is
// unreachable, every replica and every webhook would go out of service at once. To make the probe
// fail on a condition, name it in [Options.FailOn].
//
// # Guarantees
//
//   - An answer never waits for an informer, a handler or the API server: it reports the state
//     known at the moment. Methods are safe for concurrent use.
//   - The text has one line for each problem: the informer, the condition and the reason. With
//     ?verbose there is also a line for each informer without problems. The status code is 200 if
//     the program is ready, and 503 otherwise.
//   - Each error is on one line, and cut if it is long. Errors may name objects: serve the probe
//     only to clients that may see those names. Names of Secrets are hidden, and so are names where the
//     kind is not known: the text has only the class of an error, and no field selector.
package readiness
