package informer

import (
	"context"

	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
)

// Event is one observable fact about an informer, passed to [Options].Observe. It is an event of
// the reflector, or of this package: *[QuarantineError], *[StorageError],
// *[indexer.IndexError], [HandlerPanicked], [Ghost].
type Event = engine.Event

// HandlerPanicked reports that a handler panicked on a change. The change is not delivered again.
type HandlerPanicked = engine.HandlerPanicked

// Ghost reports an object that the store has shown as a write of this program had returned it, and that
// the watch has passed without bringing it: the object was deleted or changed in a way that the source does
// not read, or etcd was restored. The store shows what the watch has brought.
type Ghost = engine.Ghost

// QuarantineError reports that one object could not be prepared for the store: it could not be
// decoded, or the transform failed. A version that was stored before stays and is stale. The
// informer tries again with the object's next event and with each list.
type QuarantineError = engine.QuarantineError

// QuarantinedObject is an object that could not be decoded or transformed.
type QuarantinedObject = engine.QuarantinedObject

// StorageError reports an object of an informer with [Storage].Decoded that is held decoded, outside of the
// budget, since it cannot be packed, or the first packed object that could not be decoded.
type StorageError = engine.StorageError

// LogEvents returns the default observer of an informer. An observer of your own may call it. It
// writes to the context's logger (klog.FromContext, which may be one of log/slog): at level 0 the
// lines that an operator has to know and, at higher verbosity, everything else. LOGS.md beside this
// package lists the lines. Errors go through utilruntime.ErrorHandlers, with the context, as
// client-go's do. Of one cause it writes at most a line a second. The next line gives the number of
// omitted ones ("repeated"). It writes at most 100 lines a minute about single objects.
func LogEvents(ctx context.Context, name string) func(Event) { return engine.LogEvents(ctx, name) }
