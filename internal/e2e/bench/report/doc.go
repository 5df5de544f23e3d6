// Package report is what the benchmarks have in common, which are programs and
// modules of their own: on which machine they ran, and how a table gets into a
// README.
//
// # Guarantees
//
//   - A README without a place for the table is left as it is.
package report
