// Package cluster makes up the objects of a busy cluster: the pods of some 400 workloads, custom
// resources of some 200 variants, and objects of twenty kinds. They have the size, the nesting, the
// variety and the repetition of real objects: the pods of a workload have the same template, and
// differ in names, addresses, times and the kubelet's fields.
//
// # Guarantees
//
//   - An object depends only on the seed and its number: all processes make the same object.
//   - A returned object belongs to the caller.
//   - No two objects of a kind have the same namespace and name, or the same UID.
package cluster
