package informer

import (
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/pack"
)

// decodingReceiver delivers the events of a packed store. The log and the backlogs
// hold packed objects, too. The receiver decodes the objects that the handler needs, just before
// the call.
type decodingReceiver struct {
	receiver
	core *core
}

// withDecoding wraps a receiver in a decodingReceiver, if the store holds its objects packed.
func (c *core) withDecoding(to receiver) receiver {
	if c.packing != nil {
		return &decodingReceiver{to, c}
	}
	return to
}

func (r *decodingReceiver) CallHandler(b *eventlog.Batch) {
	if b.Prepare(r.AtOnce(), r.objects); b.Left() > 0 {
		r.receiver.CallHandler(b)
	}
}

// replaced returns where an object is kept that the store holds no longer: nobody wants it in a moment but other
// handlers.
func (r *decodingReceiver) replaced() pack.Ring {
	if r.core.processor.Count() > 1 {
		return pack.Passing
	}
	return pack.Nowhere
}

// objects decodes the objects of an event that the handler needs. In a resync old and new are one
// object, and so they are in an update whose old object cannot be decoded. It returns false if another
// object cannot be decoded.
func (r *decodingReceiver) objects(p *eventlog.Pair, h eventlog.Header) (decoded bool) {
	old, now := r.needs(h)
	packing, stored := r.core.packing, p.New
	if now {
		p.New = packing.read(stored, pack.Passing)
	}
	switch {
	case !old:
	case !now:
		p.Old = packing.read(p.Old, r.replaced())
	case object.Same(p.Old, stored):
		p.Old = p.New
	default:
		if p.Old = packing.readBeside(p.Old, stored, p.New, r.replaced()); p.Old == nil {
			p.Old = p.New
		}
	}
	return (!old || p.Old != nil) && (!now || p.New != nil)
}
