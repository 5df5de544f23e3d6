// Package faults runs tidemark against a real kube-apiserver and etcd, and
// lets go wrong what goes wrong in clusters: see the tests. Each scenario ends
// with the cache equal to the server, every handler's view equal to the cache,
// no version of an object gone back, no goroutine left, and no more requests
// than its budget allows. `make e2e` runs all and prints what they took.
//
// Controllers run as those of users do, as programs of their own: the examples,
// and fleet.
//
// A scenario waits for conditions, for minutes if need be, and never judges by how
// long something took, but for what is promised: a custom resource is there long before a back-off would ask for it again. Those that wait most of the time run two at a time.
//
// It is a module of its own, see the package harness for the servers.
package faults
