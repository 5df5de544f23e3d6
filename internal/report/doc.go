// Package report passes errors that nobody can be returned to utilruntime.ErrorHandlers,
// without waiting between two of them.
package report
