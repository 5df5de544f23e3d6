package reflector

import (
	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// keeper is implemented by a [Sink] that can return its own objects, as an informer's does. The reflector neither
// decodes nor copies what the sink holds in the same version. It writes such objects to the sink, too, in their
// place in the order, with [deltafifo.Delta].Recalled set.
type keeper interface {
	// Recall returns the stored object that was made from this version of the server's object. Name, UID and
	// version are never empty. Recall may be called from any goroutine, also after Run has returned, and must not
	// block.
	Recall(id object.Identity) (any, bool)
	// Reuse is called with the objects of a list that a client has decoded, before they are written. For each
	// object that the sink holds in the same version, it may set Object to its own one, and Recalled. It must not
	// keep the listed objects.
	Reuse(listed []deltafifo.Delta)
}

// keeper returns the sink as a keeper, or nil if it is none, or if equal versions do not mean equal objects.
func (l *loop) keeper() keeper {
	sink, ok := l.sink.(keeper)
	if !ok || l.machine.version == "" || l.machine.history.state == rolledBack {
		return nil
	}
	return sink
}

// knowing returns the keeper's Recall, nil without a keeper.
func (l *loop) knowing() func(object.Identity) (any, bool) {
	if sink := l.keeper(); sink != nil {
		return sink.Recall
	}
	return nil
}
