// Package faults runs tidemark against a real kube-apiserver and etcd, with the faults of real clusters.
// Each scenario ends with these checks: the cache equals the server, the view of every handler equals
// the cache, no object has gone back to an older version, no goroutine is left, and the number of
// requests is within the budget. `make e2e` runs all scenarios and prints their requests and times.
//
// Controllers run as separate programs, like those of users: the examples, and fleet.
//
// A scenario waits for conditions, if necessary for minutes. It checks a duration only if the library
// guarantees it: an informer of a custom resource syncs long before a back-off would end. Scenarios that
// mostly wait run two at a time.
//
// The package is a separate module. Package harness runs the servers.
package faults
