// Package report passes errors without a caller to utilruntime.ErrorHandlers, and skips the
// handler among them that sleeps between two errors.
package report
