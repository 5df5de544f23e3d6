// Package metrics exports the state of a program's informers to Prometheus: how fresh they are,
// how far behind each handler is, the requests to the API server and their causes, and the use of
// memory.
//
//	collector := metrics.New(f.Informers())
//	prometheus.MustRegister(collector)  // or controller-runtime's metrics.Registry
//
// It is a separate module, so that only its users depend on Prometheus. README.md beside this file
// lists all metrics, dashboard.json is a dashboard for Grafana, and alerts.yaml has alerts.
//
// # Guarantees
//
//   - A scrape reads the current figures of the informers. It waits neither for the API server nor
//     for a handler or an index function that is stuck.
//   - Labels are group, version, resource and scope, as in the factory, and never an object's
//     name. A kind has at most 16 scopes, and an informer at most 64 handlers; further ones are
//     counted together under the scope, or the handler, "other".
//   - Informers with the same labels, as of two factories, share their series: counts are summed,
//     and of durations, such as the staleness, the largest is exported. The same holds for
//     handlers of the same name.
//   - A counter begins at zero with its informer. If a factory drops an unused informer and makes
//     it again, Prometheus sees a counter reset, which rate() handles. A sum falls when one of
//     several informers with the same labels ends.
//   - The first scrape of an informer makes it measure, see [informer.Inspector]. Until then an
//     informer pays nothing.
//   - Conditions, error classes, causes of relists and failures of a handler have no series before
//     they first occur; own writes have none unless the informer is linked ([informer.OwnWrites]),
//     packed objects none unless it holds objects packed ([informer.Storage]), and foreign objects none
//     unless it reads a share of them ([informer.ShardStatus]).
//
// All methods are safe for concurrent use.
package metrics
