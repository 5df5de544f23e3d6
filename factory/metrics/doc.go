// Package metrics exports the state of a program's informers to Prometheus: how current they are, how far
// each handler is behind, the requests to the API server and their causes, and the memory that they use.
//
//	collector := metrics.New(f.Informers())
//	prometheus.MustRegister(collector)  // or controller-runtime's metrics.Registry
//
// It is a separate module, so that only its users depend on Prometheus. In this folder, README.md lists all
// metrics, dashboard.json is a dashboard for Grafana, and alerts.yaml has alerts.
//
// # Guarantees
//
//   - A scrape reads the current figures. It waits neither for the API server nor for a handler or an index
//     function that is stuck.
//   - Labels are the factory's group, version, resource and scope. They never name an object. A kind has at
//     most 16 scopes, and an informer at most 64 handlers. All others are counted together as scope or
//     handler "other".
//   - Informers with the same labels, such as those of two factories, share their series. Counts are summed,
//     and for durations, such as the staleness, the largest is exported. The same holds for handlers with the
//     same name.
//   - A counter starts at zero with its informer. If a factory drops an unused informer and makes it again,
//     Prometheus sees a counter reset, which rate() handles. If several informers have the same labels, a sum
//     falls when one of them ends.
//   - The first scrape of an informer starts its measuring, see [informer.Inspector], which costs nothing
//     before.
//   - Conditions, error classes, causes of relists and failures of a handler have no series before they first
//     occur. Own writes have none unless the informer is linked ([informer.OwnWrites]), packed objects none
//     unless it holds objects packed ([informer.Storage]), and foreign objects none unless it reads a share
//     ([informer.ShardStatus]).
//
// All methods are safe for concurrent use.
package metrics
