package reflector

import (
	"context"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// asking returns the function that sends the request of a list or watch.
func (l *loop) asking(o metav1.ListOptions, list bool) func(context.Context) (answer, error) {
	ask := func(ctx context.Context) (answer, error) { return askClient(ctx, l.source, o, list) }
	if raw := l.raw; raw.ask != nil {
		ask = func(ctx context.Context) (answer, error) { return raw.ask(ctx, o, list) }
	}
	return func(ctx context.Context) (answer, error) {
		d := &delay{wanted: wanted{list: list, options: o}}
		a, err := ask(context.WithValue(ctx, delayKey{}, d))
		return a, d.wrap(err)
	}
}

// receiving returns the function that starts reading the events of an answer. In the initial state
// of a stream, objects that the sink already holds are not decoded.
func (l *loop) receiving(initial bool) func(context.Context, io.ReadCloser) *reception {
	known := l.knowing()
	if !initial {
		known = nil
	}
	return func(ctx context.Context, body io.ReadCloser) *reception {
		r := &reception{ctx: ctx, body: body, kind: l.kind, known: known, strict: l.o.FailOnUndecodable, initial: initial}
		return startReception(r, false)
	}
}

// knowing returns the sink's Recall, or nil if the sink has none, or if equal versions do not mean
// equal objects.
func (l *loop) knowing() func(id) (any, bool) {
	sink, ok := l.sink.(Recaller)
	if !ok || l.machine.version == "" || l.machine.history.state == rolledBack {
		return nil
	}
	return func(o id) (any, bool) { return sink.Recall(o.key, o.uid, o.version) }
}
