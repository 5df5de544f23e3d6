// Package eventage measures how old changes are when they reach the store of an informer and each
// of its handlers: the delay of the whole path from the API server.
//
//	pods := f.Core().V1().Pods().Informer()
//	ours, _ := informer.SharedOf(pods)
//	age, err := eventage.UpperBound(ctx, ours.Inspector(), eventage.CurrentVersion(client.CoreV1().Pods("")))
//
// It uses no clock but this program's. The timestamps in objects come from the clocks of the
// machines that wrote them, in whole seconds. So there are two measurements:
//
//   - [UpperBound] asks the server for its current version and waits for the first event that is
//     newer. The event cannot be older than the question. If objects rarely change, the bound is
//     loose: it includes the time until the next change.
//   - [Canary] writes to an object and waits for that very change. The change happened between the
//     beginning and the end of the write, so both bounds are known.
//
// A bookmark does not count as an event. It proves that the watch works and comes about once a
// minute, but says nothing about the delay of a change.
//
// # Costs
//
// An upper bound costs the server one LIST with limit 1, answered by etcd, however long it waits
// for a change. A canary costs a write, which the server sends to every watch of the
// kind in the cluster. Both cost the informer one comparison for each change while they wait, and
// nothing otherwise. Measure once a minute, not once a second.
//
// # Guarantees
//
// Functions are safe for concurrent use. They return when ctx ends. If a handler is stuck, the
// error names it, and the age in the store is returned together with the error.
package eventage
