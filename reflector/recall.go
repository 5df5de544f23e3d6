package reflector

import (
	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// Recaller is implemented by a [Sink] that can return its objects, so that the reflector need not decode
// them again. Recall returns the object stored under a key, if it was made from the server's object of
// this UID and version; neither is ever empty. It may be called from any goroutine, also after Run has
// returned, and must not block.
//
// The reflector writes such objects to the sink, too, in their place in the order, with the recalled
// object and with [deltafifo.Delta].Recalled set.
type Recaller interface {
	Recall(key indexer.Key, uid, version string) (any, bool)
}

// reuser is implemented by a [Sink] that can return its objects in place of equal ones that a client
// has decoded. Reuse is called with the objects of a list before they are written, unless equal
// versions do not mean equal objects. For each object that the sink holds in the same UID and
// version, it may set Object to its own one, and Recalled. It must not keep the listed objects.
type reuser interface {
	Reuse(listed []deltafifo.Delta)
}
