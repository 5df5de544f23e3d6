// Package report turns the output of benchmarks into the tables of READMEs: it reads benchstat's
// medians, formats figures, and replaces a section of a README.
//
// # Guarantees
//
//   - A README without a place for the section stays as it is.
package report
