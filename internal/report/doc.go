// Package report passes errors that no caller receives to utilruntime.ErrorHandlers. It skips the
// handler that sleeps between two errors.
package report
