// Package cluster generates the objects of a busy cluster: the pods of about 400 workloads, custom
// resources of about 200 variants, and objects of twenty kinds. They have the size, nesting, variety and
// repetition of real objects. The pods of a workload have the same template, and differ in names,
// addresses, times and the kubelet's fields.
//
// # Guarantees
//
//   - An object depends only on the seed and its number. All processes generate the same object.
//   - A returned object belongs to the caller.
//   - Two objects of a kind never have the same namespace and name, or the same UID.
package cluster
