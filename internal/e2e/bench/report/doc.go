// Package report turns the output of benchmarks into tables in documents. It reads benchstat's medians,
// formats figures, and replaces a section of a file.
//
// # Guarantees
//
//   - A file without a place for the section does not change.
package report
