// Package program runs an example program in a test, which sees its output and its exit code. It
// also has the tests common to all examples.
//
// # Guarantees
//
//   - A started program has ended when its test ends.
//   - A wait for a pattern that is never printed fails the test when the program ends, or after two
//     minutes. So does a wait for the program's end. The failure shows the program's output.
package program
