// Package report turns the output of benchmarks into the tables of documents: it reads benchstat's
// medians, formats figures, and replaces a section of a file.
//
// # Guarantees
//
//   - A file without a place for the section stays as it is.
package report
