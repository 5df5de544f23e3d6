// Package programs tests the examples from outside: its tests build them once, and run each as a
// user does, in a process of its own.
//
// # Guarantees
//
//   - No test sees a developer's own cluster.
//   - Tests of an example's functions are in the example's folder.
package programs
