// Package limits keeps an informer from reporting too much: lines with the same cause, lines about single
// objects, and calls of an error handler. All types are safe for concurrent use.
package limits
