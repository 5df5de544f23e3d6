// Package delivery carries the changes of a store to handlers, each at its own pace and on its own goroutine.
//
// The writer of the store appends changes to a log, and calls [SharedProcessor.Publish] at the end of each
// write section. A [Registration] belongs to one handler. It has a life (idle, delivering, gone), a way to
// sleep while there is nothing to deliver, and a feed. The feed yields the handler's events: the initial
// state, then the log, and all objects again for a resync. It yields either all changes of the log, or one
// merged change for each object.
//
// The package does not know the handlers. Package informer makes a [Receiver] for each of them.
//
// No lock is held while a handler is called. A stuck handler delays only those that wait for it.
package delivery
