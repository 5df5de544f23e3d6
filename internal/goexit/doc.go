// Package goexit lets work go on where a user's function ends the goroutine that
// it is called on (runtime.Goexit), as t.FailNow of a test does.
//
// # Guarantees
//
// Nothing can keep a goroutine that is ending. So the work goes on on another one,
// and there is none as long as all functions return. A panic is no business of this
// package: it takes its course on the goroutine that it happens on.
package goexit
