// Package report passes errors that nobody can be returned to utilruntime.ErrorHandlers,
// without waiting between two of them, and tells the handler that waits from the others.
package report
