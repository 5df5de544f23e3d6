// Package delivery carries the changes of a store to handlers, each at its own pace and on its own
// goroutine.
//
// The writer of the store appends changes to a log, and calls [SharedProcessor.Publish] at the end of each
// write section. A [Registration] is the place of one handler. It has three parts: a life (idle,
// delivering, gone), a place to sleep while there is nothing to deliver, and a
// feed, which yields the handler's events: the initial state, then the log, and for a resync the objects
// again. The changes of a feed are either all of the log, or merged into one for each object.
//
// The package knows no handlers of users. Package informer makes a [Receiver] of each handler.
//
// No lock is held while a handler is called. A handler that is stuck holds up nobody but those who wait for it.
package delivery
