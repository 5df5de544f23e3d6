// Package objects makes up what a busy cluster holds: pods as some 400
// workloads make them, custom resources of some 200 variants, and objects of
// twenty kinds. They have the size, the nesting and the variety of real ones,
// and repeat each other where real ones do: pods of one workload share its
// template, and differ in names, addresses, times and all that the kubelet adds.
//
// # Guarantees
//
//   - An object depends on the seed and its number alone, so that each process
//     that makes it makes the same one.
//   - What is returned belongs to the caller.
//   - No two objects of a kind have the same namespace and name, or the same UID.
package objects
