// Package show decides, for the probe, the debug page and the metrics, what is wrong with an informer
// and what may be shown of it.
//
// # Guarantees
//
//   - [Problems] is a pure function of a status: whoever asks gets the same answer.
//   - Of an informer of Secrets, or of an unknown kind, [WithoutNames] hides what may hold an object's
//     name: the field selector, the text of errors, and keys.
package show
