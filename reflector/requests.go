package reflector

import (
	"context"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// readHere prepares to decode a sender's answers, if the objects are of the requested type.
func (l *loop) readHere() {
	if !l.decodes() {
		return
	}
	send, drop := l.source.Send, l.deltaMaker.drop
	l.ask = send.ask
	s := wire.Sharing{Table: l.form.Values, Values: l.form.Deep}
	l.decoder = wire.NewDecoder(send.objects, s, drop)
	l.decoder.Timed = l.form.Timed
	if l.keeper != nil {
		l.subscriber = &subscriber{sink: l.keeper, decoder: wire.NewDecoder(send.objects, s, drop), deltas: l.deltaMaker, taker: l.form.Packs, share: l.share}
	}
}

// asking returns a function that sends the request of a list or watch, with the source's tweak.
func (l *loop) asking(o metav1.ListOptions, list bool) func(context.Context) (wire.Answer, error) {
	return func(ctx context.Context) (wire.Answer, error) {
		if l.source.Tweak != nil {
			l.source.Tweak(&o)
		}
		var sender wire.Sender
		if l.subscriber != nil {
			sender = l.subscriber
		}
		return l.ask.Marked(ctx, o, list, sender)
	}
}

// unordered reports whether a watch begins with Added events in any order, because it has no version
// (B63).
func unordered(o metav1.ListOptions) bool {
	return o.SendInitialEvents == nil && (o.ResourceVersion == "" || o.ResourceVersion == "0")
}

// receiving returns a function that starts to read the events of an answer. In the initial state of
// a stream, it does not decode objects that the sink already has.
func (l *loop) receiving(o metav1.ListOptions) func(context.Context, io.ReadCloser) *wire.Reception {
	initial, known := o.SendInitialEvents != nil, l.recall()
	if !initial {
		known = nil
	}
	return func(ctx context.Context, body io.ReadCloser) *wire.Reception {
		return wire.Receive(&wire.Reception{
			Ctx: ctx, Body: body, Decoder: l.decoder, Known: known, Strict: l.o.FailOnUndecodable, Taker: l.form.Packs, Share: l.share.ofItems(),
			Initial: initial, Unordered: unordered(o),
		}, false)
	}
}
