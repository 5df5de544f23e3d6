// Package eventage measures how old changes are when they reach the store of an informer,
// and each of its handlers: how far the whole way from the API server is behind.
//
//	pods := f.Core().V1().Pods().Informer()
//	ours, _ := informer.SharedOf(pods)
//	age, err := eventage.UpperBound(ctx, ours.Inspector(), eventage.CurrentVersion(client.CoreV1().Pods("")))
//
// No clock but this program's is looked at: an object's timestamps are those of the
// machines that wrote it, in whole seconds. So there are two measures, of which each is
// named for what it is:
//
//   - [UpperBound] asks the server for the version that it is at, and waits for the first
//     event that is newer. That event cannot be older than the question. Where little
//     changes, the bound is loose: it holds the time until something did change.
//   - [Canary] writes to an object and waits for that very change. It happened between the
//     beginning and the end of the write, so that both bounds are known.
//
// A bookmark is no event: it proves that the watch is alive, comes about once a minute, and
// says nothing of how long a change takes.
//
// # Costs
//
// An upper bound costs the server a LIST with limit 1 that etcd answers, and no more where
// nothing changes for as long as ctx lasts. A canary costs a write, which every watch of
// the kind in the whole cluster is told. Both cost an informer one comparison for each change
// while they wait, and nothing otherwise. Measure once a minute, not once a second.
//
// # Guarantees
//
// Functions may be called from any goroutine, and several at a time. They return when ctx ends.
// A handler that is stuck is told with its name in the error, and how long the store took
// is returned beside.
package eventage
