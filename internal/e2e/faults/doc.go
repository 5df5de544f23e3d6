// Package faults runs tidemark against a real kube-apiserver and etcd, with the
// faults that clusters have: see the tests. Each scenario ends with the cache
// equal to the server, every handler's view equal to the cache, no object back
// at an older version, no goroutine left, and no more requests than its budget
// allows. `make e2e` runs all scenarios and prints their requests and times.
//
// Controllers run as programs of their own, as users' controllers do: the
// examples, and fleet.
//
// A scenario waits for conditions, for minutes if need be. It checks a duration
// only where the library promises it: an informer of a custom resource syncs long
// before a back-off would ask for the resource again. Scenarios that mostly wait
// run two at a time.
//
// The package is a module of its own. Package harness runs the servers.
package faults
