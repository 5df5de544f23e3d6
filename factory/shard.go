package factory

import (
	"fmt"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/shard"
)

// known is what a factory knows of the Assignment of an informer, and the informer does not.
type known struct {
	noKinds error // ErrNoKinds if no kinds were named, or nil
	global  bool  // the kind has no namespaces
}

// of returns the Assignment that the factory gives to the informer: a, or one that also says why the informer
// must refuse it. It may be nil: everything.
func (k known) of(a shard.Assignment) shard.Assignment {
	if k.noKinds == nil && (a == nil || !k.global) {
		return a
	}
	return assigned{a, k}
}

// assigned is an Assignment that an informer may have to refuse.
type assigned struct {
	shard.Assignment
	known
}

// Unusable returns the reason why the informer cannot read a share by a field. The informer asks for it first when it is
// made, with the field 0.
func (a assigned) Unusable(by shard.Field) error {
	if a.noKinds == nil && a.global && by == shard.ByNamespace {
		return fmt.Errorf("%w: its kind has no namespaces, and the share is of namespaces", informer.ErrSharded)
	}
	return a.noKinds
}
