package informer

import (
	"context"

	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
)

// Event is an observable fact about an informer, passed to [Options].Observe. It is an event of package
// reflector, or one of *[QuarantineError], *[StorageError], *[indexer.IndexError], [HandlerPanicked] and
// [Ghost].
type Event = engine.Event

// HandlerPanicked reports that a handler panicked on a change, with the handler's name and the value of the
// panic. The change is not delivered again. [engine.HandlerPanicked] documents its fields.
type HandlerPanicked = engine.HandlerPanicked

// Ghost reports the key and version of an object that the store showed after a write of this program, and
// that the watch never delivered. The object was deleted or changed in a way that the source does not read,
// or etcd was restored. The store now shows what the watch delivered. [engine.Ghost] documents its fields.
type Ghost = engine.Ghost

// QuarantineError reports the key of an object that could not be decoded or transformed, and the reason. The
// store keeps an earlier version, which is then stale. The informer tries again with the object's next event
// and with each list. [engine.QuarantineError] documents its fields.
type QuarantineError = engine.QuarantineError

// QuarantinedObject is an object that could not be decoded or transformed, with the time and the error.
// [engine.QuarantinedObject] documents its fields.
type QuarantinedObject = engine.QuarantinedObject

// StorageError reports an object of an informer with [Storage].Decoded that cannot be packed, and so stays
// decoded outside of the budget. It also reports the first packed object that could not be decoded.
// [engine.StorageError] documents its fields.
type StorageError = engine.StorageError

// LogEvents returns the default observer of an informer. Your own observer may call it. It writes to the
// context's logger (klog.FromContext, which can write to log/slog). Level 0 has the lines that an operator
// has to know, and higher levels have the rest; LOGS.md in this folder lists them. Errors go through
// utilruntime.ErrorHandlers with the context, as in client-go.
//
// It writes at most one line a second for each cause, and adds the number of omitted lines ("repeated") to
// the next one. It writes at most 100 lines a minute about single objects.
func LogEvents(ctx context.Context, name string) func(Event) { return engine.LogEvents(ctx, name) }
