package informer

import (
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// decodingReceiver delivers the events of a packed store. The log and the backlogs
// hold packed objects, too. The receiver decodes the objects that the handler needs, just before
// the call.
type decodingReceiver struct {
	receiver
	decode func(stored any) any
}

// withDecoding wraps a receiver in a decodingReceiver, if the store holds its objects packed.
func (c *core) withDecoding(to receiver) receiver {
	if c.packing != nil {
		return &decodingReceiver{to, c.packing.forHandler}
	}
	return to
}

func (r *decodingReceiver) CallHandler(b *eventlog.Batch) {
	b.Prepare(r.AtOnce(), r.objects)
	r.receiver.CallHandler(b)
}

// objects decodes the objects of an event that the handler needs. In a resync old and new are one
// object.
func (r *decodingReceiver) objects(p *eventlog.Pair, h eventlog.Header) {
	old, now := r.needs(h)
	if old && now && object.Same(p.Old, p.New) {
		p.New = r.decode(p.New)
		p.Old = p.New
		return
	}
	if old {
		p.Old = r.decode(p.Old)
	}
	if now {
		p.New = r.decode(p.New)
	}
}
