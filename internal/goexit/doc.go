// Package goexit keeps work going when a user's function ends its goroutine with runtime.Goexit,
// as a test's t.FailNow does.
//
// # Guarantees
//
// Nothing can keep an ending goroutine, so the work goes on on another one. There is none as long
// as all functions return. A panic passes through, on the goroutine that it happens on.
package goexit
