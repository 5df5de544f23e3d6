// Package program runs an example program in a test, which can read its output and exit code. It also
// contains the tests that all examples have in common.
//
// # Guarantees
//
//   - A started program ends with its test.
//   - A wait for a pattern that is never printed fails the test when the program ends, or after two
//     minutes. The same applies to a wait for the end of the program. The failure shows the
//     program's output.
package program
