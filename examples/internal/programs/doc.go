// Package programs tests the examples as a user runs them: its tests build them once, and run each in its own
// process.
//
// # Guarantees
//
//   - No test uses a developer's cluster.
//   - Tests of an example's functions are in the folder of the example.
package programs
