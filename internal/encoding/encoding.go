package encoding

import (
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
)

var used atomic.Pointer[indexer.Codec]

// Codec returns the codec for new stores, nil for none.
func Codec() indexer.Codec {
	if c := used.Load(); c != nil {
		return *c
	}
	return nil
}

// Use sets the codec for new stores, until restore is called. The codec encodes an object with
// metadata as a metav1.ObjectMetaAccessor with namespace, name, UID and resourceVersion:
// informers compare objects by these, without decoding them.
func Use(c indexer.Codec) (restore func()) {
	before := used.Swap(&c)
	return func() { used.Store(before) }
}
