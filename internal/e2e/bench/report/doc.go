// Package report turns the output of benchmarks into the tables of READMEs: it reads the medians that
// benchstat took, spells figures, and writes a section into its place.
//
// # Guarantees
//
//   - A README without a place for the section stays as it is.
package report
