// Package show decides which problems of an informer, and which of its data, the probe, the debug page and
// the metrics show.
//
// # Guarantees
//
//   - [Problems] is a pure function of a status, so all three show the same problems.
//   - For an informer of Secrets or of an unknown kind, [WithoutNames] hides what may contain an object's
//     name: the field selector, the text of errors, and keys.
package show
