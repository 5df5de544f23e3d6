// Package metrics tells Prometheus how the informers of a program are doing: how fresh they
// are, how far behind each handler is, what they ask of the API server and why, and what
// the memory goes to.
//
//	collector := metrics.New(factory.InUse(f))
//	prometheus.MustRegister(collector)  // or controller-runtime's metrics.Registry
//
// It is a module of its own, so that nobody pays for Prometheus who does not use it. All
// metrics stand in README.md beside this file, a dashboard for Grafana in dashboard.json, and
// alerts in alerts.yaml.
//
// # Guarantees
//
//   - A scrape reads what the informers know. It waits neither for the API server nor for a
//     handler or an index function that is stuck.
//   - Labels are group, version, resource and scope, as a factory knows them, and never an
//     object's name. A kind has at most 16 scopes, and an informer at most 64 handlers: those
//     that come later are counted together under the scope, or the handler, "other".
//   - Informers with the same labels, as of two factories, are told as one: what is counted
//     is summed, and of times, such as the staleness, the largest counts. The same goes for
//     handlers of one name.
//   - A counter begins at zero with its informer. Where a factory makes an informer again that
//     nobody had used for a while, Prometheus takes that for a restart, as rate() expects.
//     A sum falls when one of several informers with the same labels ends.
//   - The first scrape of an informer makes it measure, see [informer.Inspector]: until then an
//     informer pays nothing.
//   - What may go wrong has no series until it does: a condition, a class of errors, a cause of a
//     full state, a handler's failures.
//
// All methods are safe for any goroutine.
package metrics
