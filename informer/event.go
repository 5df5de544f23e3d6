package informer

import "github.com/tidemark-k8s/tidemark/indexer"

// Event is one observable fact about an informer, passed to [Options].Observe. It is an event of
// the reflector, or of this package: *[QuarantineError], *[StorageError],
// *[indexer.IndexError], [HandlerPanicked], [Ghost].
type Event any

// HandlerPanicked reports that a handler panicked on a change. The change is not delivered again.
type HandlerPanicked struct {
	Handler string
	Value   any
}

// Ghost reports an object that the store has shown as a write of this program had returned it, and that
// the watch has passed without bringing it: the object was deleted or changed in a way that the source does
// not read, or etcd was restored. The store shows what the watch has brought.
type Ghost struct {
	Key     indexer.Key // the server's
	Version string      // as it was shown
}
