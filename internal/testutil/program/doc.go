// Package program runs an example program in a test, which sees its output and its exit code. It
// also has the tests common to all examples.
//
// # Guarantees
//
//   - A started program has ended when its test ends.
//   - No wait has a timeout: a pattern that is never printed fails the test when the program ends.
package program
