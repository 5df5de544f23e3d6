package delivery

import (
	"context"
	"time"

	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// Receiver calls the handler of a registration.
type Receiver interface {
	// CallHandler passes the next event of a batch to the handler, or as many events as the handler takes at
	// once. It removes these events from the batch, even if the handler does not return.
	CallHandler(b *eventlog.Batch)
	// AtOnce returns the most events that the handler takes at once.
	AtOnce() int
	// Context returns the context for reports of the handler's panics, which is made from the context of the
	// run.
	Context(run context.Context) context.Context
}

// Options configure the delivery to a handler.
type Options struct {
	Name   string        // for messages
	Merge  bool          // the pending changes of an object become one
	Resync time.Duration // the period in which all objects are delivered again; none if not positive
	Owner  any           // identifies the owner of the registration
}
