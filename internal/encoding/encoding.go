package encoding

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
)

var used atomic.Pointer[indexer.Codec]

// Codec returns the codec of a store that is made now, nil for none.
func Codec() indexer.Codec {
	if c := used.Load(); c != nil {
		return *c
	}
	return nil
}

// Use makes the stores that are made from now on use a codec, until restore is called.
// What it makes of an object with metadata is a metav1.ObjectMetaAccessor, and tells the
// namespace, the name, the UID and the resourceVersion: informers compare objects by
// these, and decode none of them for that.
func Use(c indexer.Codec) (restore func()) {
	before := used.Swap(&c)
	return func() { used.Store(before) }
}
