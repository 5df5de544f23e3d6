// Package cluster makes up the objects of a busy cluster: the pods of some 400 workloads, custom
// resources of some 200 variants, and objects of twenty kinds. They have the size, the nesting and the
// variety of real ones, and repeat each other like real ones: the pods of a workload have the same
// template, and differ in names, addresses, times and everything that the kubelet adds.
//
// # Guarantees
//
//   - An object depends on the seed and its number alone: all processes make the same one.
//   - A returned object belongs to the caller.
//   - No two objects of a kind have the same namespace and name, or the same UID.
package cluster
