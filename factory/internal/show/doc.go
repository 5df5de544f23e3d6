// Package show decides, for the probe, the debug page and the metrics, what is wrong with an informer
// and what may be shown of it.
//
// # Guarantees
//
//   - [Problems] is a pure function of a status: whoever asks gets the same answer.
//   - Of an informer of Secrets, or of an unknown kind, [WithoutFields] hides the field selector, which
//     may hold an object's name.
package show
