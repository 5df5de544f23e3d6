// Package goexit keeps work going when a user's function ends its goroutine with runtime.Goexit,
// as a test's t.FailNow does.
//
// # Guarantees
//
// An ending goroutine cannot be stopped from ending, so the work continues on another one. As long
// as all functions return, no other goroutine is started. A panic passes through, on its goroutine.
package goexit
