// Package limits keeps what is reported of an informer from becoming too much: lines of one cause, lines
// about single objects, and calls of a handler of errors. All of it is safe for any goroutine.
package limits
