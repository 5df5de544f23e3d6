package reflector

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// openList requests a page. The page is then decoded while it arrives.
func (l *loop) openList(r request) (input, error) {
	ctx, cancel := context.WithTimeoutCause(l.ctx, l.listPatience(), ErrSilent)
	known := l.recall()
	o := metav1.ListOptions{ResourceVersion: r.version, Limit: r.limit, Continue: r.token, ShardSelector: l.selector}
	a, err := wire.Call(ctx, func() (wire.Answer, error) { return l.asking(o, true)(ctx) }, wire.Answer.Close)
	switch {
	case err != nil:
		err = silence(ctx, err)
		cancel()
		return input{kind: inFailed}, err
	case a.Body == nil: // the client has read the body
		cancel()
		l.reportDecoded()
		return l.acceptPage(r, a.List)
	}
	l.incoming = &incoming{
		Reception: wire.Receive(&wire.Reception{Ctx: ctx, Body: a.Body, Decoder: l.decoder, Known: known, Strict: l.o.FailOnUndecodable, Taker: l.form.Packs, Share: l.share.ofItems()}, true),
		request:   r, cancel: cancel,
	}
	return l.readPage()
}

// incoming is a page that is decoded while it arrives.
type incoming struct {
	*wire.Reception
	request request
	cancel  context.CancelFunc
	items   int
}

// readPage takes the items that have arrived, or the end of the page.
func (l *loop) readPage() (input, error) {
	p := l.incoming
	select {
	case batch, ok := <-p.Batches:
		if !ok {
			return l.endOfPage()
		}
		p.items += len(batch)
		if err := l.pager.bound(p.request.token, p.items); err != nil {
			return p.failed(err)
		}
		l.page = page{received: batch, remaining: -1}
		return input{kind: inItems}, nil
	case <-p.Ctx.Done():
		return p.failed(context.Cause(p.Ctx))
	}
}

// failed returns the input for a page that broke off or did not arrive.
func (p *incoming) failed(err error) (input, error) {
	if p.items > 0 {
		return input{kind: inBroken}, silence(p.Ctx, err)
	}
	return input{kind: inFailed}, silence(p.Ctx, err)
}

// endOfPage returns the input for the end of a page.
func (l *loop) endOfPage() (input, error) {
	p := l.incoming
	defer l.closePage()
	if p.Err != nil {
		return p.failed(p.Err)
	}
	h := p.Head
	end := page{version: h.Version, token: h.Continue, remaining: -1}
	if h.Remaining != nil {
		end.remaining = *h.Remaining
	} else if end.token == "" {
		end.remaining = 0
	}
	in, err := l.accept(p.request, end, p.items)
	if in.kind == inFailed {
		return p.failed(err)
	}
	return in, err
}

// closePage closes the present page, if any.
func (l *loop) closePage() {
	if p := l.incoming; p != nil {
		p.cancel()
		l.noteExit(p.Close())
		l.incoming = nil
	}
}

// silence adds [ErrSilent] to an error if the request timed out.
func silence(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrSilent) && !errors.Is(err, ErrSilent) {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return err
}

// writeReceived passes the items that have arrived to the sink. At the end of the page there are
// none.
func (l *loop) writeReceived() error {
	for i := range l.page.received {
		if l.addChange(deltafifo.Added, &l.page.received[i]) {
			l.objects++
		}
	}
	if err := l.flush(); err != nil {
		return err
	}
	if ended := l.page.received == nil; ended || l.times.pagedIsDue() {
		l.times.paged = time.Now()
		l.tell(Paged{Operation: OpList, Objects: l.objects, Remaining: l.page.remaining, Bytes: l.bytes})
	}
	return nil
}
