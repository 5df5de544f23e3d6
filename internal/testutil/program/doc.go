// Package program runs an example as its tests see it, by what it prints and how
// it ends, and tests what all examples have in common.
//
// # Guarantees
//
//   - A program that was started has ended when its test has.
//   - Nothing is waited for by time: a pattern that never comes is told when the
//     program ends.
package program
