package reflector

import (
	"github.com/tidemark-k8s/tidemark/internal/fields"
	"github.com/tidemark-k8s/tidemark/internal/keeper"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/share"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// keep determines whether the sink keeps the objects, and how to decode them.
func (r *Reflector) keep() {
	sink, ok := r.sink.(keeper.Sink)
	if ok {
		r.keeper, r.form = sink, sink.Connect(r.ofKeeper())
	} else if r.decodes() && !r.o.Unshared {
		r.form = keeper.Form{Values: share.New(0), Deep: true}
	}
}

// ofKeeper returns what the reflector has for a sink that keeps the objects.
func (r *Reflector) ofKeeper() keeper.Reflector {
	d := keeper.Reflector{AskForBookmark: r.askForBookmark, Foreign: r.share.status}
	drop, _ := fields.Parse(r.o.Drop...) // Run validates it
	if r.o.Type != nil {
		d.Encoded = wire.NewPackedDecoder(wire.Objects{Type: r.o.Type}, drop)
	}
	if r.decodes() {
		objects := r.source.Send.objects
		d.Received, d.Objects = wire.NewPackedDecoder(objects, drop), objects
	}
	return d
}

// decodes reports whether the reflector decodes the answers itself. The objects must be of the
// requested type.
func (r *Reflector) decodes() bool {
	send := r.source.Send
	return send != nil && send.objects.Type == r.o.Type
}

// reuses returns the sink if it may reuse its objects: the sink keeps them, and equal versions mean
// equal objects.
func (l *loop) reuses() keeper.Sink {
	if !l.machine.compares() {
		return nil
	}
	return l.keeper
}

// recall returns the function that looks up the sink's objects, or nil if the sink may not reuse
// them.
func (l *loop) recall() func(object.Identity) (any, bool) {
	if sink := l.reuses(); sink != nil {
		return sink.Recall
	}
	return nil
}
