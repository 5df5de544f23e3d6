package reflector

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

const (
	// longestHold is how long informers may delay a write. Reading a copy of the request's body may
	// also take the grace.
	longestHold = time.Second - wire.Grace
	// mostBody is the maximum size of bodies to read.
	mostBody = 16 << 20
)

// writing is a write of the program on its way to the server and back.
type writing struct {
	ownwrites.Write
	own         *OwnWrites
	subscribers []*subscriber
	before      []ownwrites.Before // of the subscribers, when the request began
	history     uint64             // of own.made, when the request began
	left        time.Duration      // how long the caller may still be delayed
}

// send sends the request of a write, and passes its result to the subscribers of its resource.
func (o *OwnWrites) send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	t, ok := ownwrites.ParseTarget(r.URL.Path)
	if !ok {
		return next.RoundTrip(r)
	}
	subscribers := o.subscribersOf(t, r)
	if len(subscribers) == 0 {
		return next.RoundTrip(r)
	}
	w := &writing{own: o, subscribers: subscribers, history: o.made.History(), left: longestHold}
	if !w.begin(t, r) {
		return next.RoundTrip(r)
	}
	answer, err := next.RoundTrip(r)
	if result, ok := w.result(r.Context(), answer, err); ok {
		w.tell(r.Context(), result)
	}
	return answer, err
}

// begin reads the request, and asks the subscribers what they know. It returns false if the answer will
// tell nothing.
func (w *writing) begin(t ownwrites.Target, r *http.Request) (ok bool) {
	body := ownwrites.Body{Whole: true}
	if r.Body != nil && r.Body != http.NoBody {
		body = w.body(r)
	}
	if w.Write, ok = ownwrites.ReadWrite(r.Method, t, r.URL.Query(), body); !ok {
		return false
	}
	for _, s := range w.subscribers {
		w.before = append(w.before, s.sink.Begins(w.Key()))
	}
	return true
}

// body returns a copy of the request's body. The copy is not whole if copying takes too long or
// fails.
func (w *writing) body(r *http.Request) ownwrites.Body {
	defer func(since time.Time) { w.left -= time.Since(since) }(time.Now())
	ctx, stop := context.WithTimeout(r.Context(), w.left)
	defer stop()
	body, _ := wire.Call(ctx, func() (ownwrites.Body, error) { return bodyOf(r), nil }, func(ownwrites.Body) {}) // else it is not whole
	return body
}

// result returns the result of a write, from an answer or an error. It returns false if the write
// has done nothing.
func (w *writing) result(ctx context.Context, answer *http.Response, err error) (result ownwrites.Result, ok bool) {
	if err != nil || answer == nil { // a broken transport may return neither
		var refused interface{ NotSent() bool }
		return w.Unanswered(), !errors.As(err, &refused) || !refused.NotSent()
	}
	code, body := answer.StatusCode, ownwrites.Body{Type: answer.Header.Get("Content-Type"), Encoding: answer.Header.Get("Content-Encoding")}
	if w.Answers(code) && body.Encoding == "" && answer.ContentLength <= mostBody && answer.Body != nil {
		body.Data, body.Whole = readAnswer(answer)
	}
	result, ok = w.Result(code, body)
	if result.Proven { // before a store shows the object, because a handler may call Made at once
		writer, _ := ctx.Value(writerKey{}).(string)
		w.own.made.Add(w.history, writer, result.UID, w.Condition, result.Version)
	}
	return result, ok
}

// tell passes a result to all informers in parallel, and waits for them as long as it may delay the
// caller.
func (w *writing) tell(ctx context.Context, result ownwrites.Result) {
	ctx, stop := context.WithTimeout(ctx, w.left)
	defer stop()
	all := w.tellings(result)
	for _, t := range all {
		go t.tell(w.Write, result)
	}
	for _, t := range all {
		select {
		case <-t.done:
		case <-ctx.Done():
			t.leave()
		}
	}
}

// telling is the answer to a write on its way to one informer.
type telling struct {
	subscribers []*subscriber
	answers     []ownwrites.Answer
	late        *atomic.Int32 // the informer's
	done        chan struct{}
	over        atomic.Bool // the informer has the answers, or the caller has continued
}

// tellings returns the answers for each informer. An informer's subscribers that read the object come
// first, because the object may have moved to them from the other subscribers. The caller does not wait
// for an informer that is late with an earlier answer, because it is stuck.
func (w *writing) tellings(result ownwrites.Result) (all []*telling) {
	answers := make([]ownwrites.Answer, len(w.subscribers))
	for i, r := range w.subscribers {
		answers[i] = r.answer(w.Write, result, w.before[i])
	}
	for _, inside := range []bool{true, false} {
		for i, r := range w.subscribers {
			late := r.sink.Late()
			switch a := answers[i]; {
			case (a.Scope == ownwrites.Inside) != inside:
			case a.Kind == ownwrites.Doubt || late.Load() > 0:
				r.sink.Missed(a)
			default:
				n := slices.IndexFunc(all, func(t *telling) bool { return t.late == late })
				if n < 0 {
					n, all = len(all), append(all, &telling{late: late, done: make(chan struct{})})
				}
				all[n].subscribers, all[n].answers = append(all[n].subscribers, r), append(all[n].answers, a)
			}
		}
	}
	return all
}

// tell passes the answers on.
func (t *telling) tell(w ownwrites.Write, result ownwrites.Result) {
	defer close(t.done)
	defer func() {
		if t.over.Swap(true) {
			t.late.Add(-1)
		}
	}()
	for i, r := range t.subscribers {
		r.tell(w, result, t.answers[i])
	}
}

// leave lets the caller continue, unless the informer has the answers.
func (t *telling) leave() {
	if t.over.Swap(true) {
		return
	}
	t.late.Add(1)
	for i, r := range t.subscribers {
		r.sink.Missed(t.answers[i])
	}
}

// bodyOf reads a copy of a request's body. The copy is not whole if the body cannot be copied.
func bodyOf(r *http.Request) ownwrites.Body {
	b := ownwrites.Body{Type: r.Header.Get("Content-Type"), Encoding: r.Header.Get("Content-Encoding")}
	if r.GetBody == nil || r.ContentLength > mostBody {
		return b
	}
	body, err := r.GetBody()
	if err != nil {
		return b
	}
	defer func() { _ = body.Close() }() // the copy
	b.Data, err = io.ReadAll(io.LimitReader(body, mostBody+1))
	b.Whole = err == nil && len(b.Data) <= mostBody
	return b
}

// readAnswer reads an answer's body, and replaces it with a reader of the same bytes and the same
// error. The body is not whole if it broke off or is too large.
func readAnswer(answer *http.Response) (data []byte, whole bool) {
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostBody+1))
	rest := io.Reader(answer.Body)
	if err != nil {
		rest = brokenOff{err}
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(data), rest), answer.Body}
	return data, err == nil && len(data) <= mostBody
}

// brokenOff is the end of a body that broke off.
type brokenOff struct{ err error }

func (b brokenOff) Read([]byte) (int, error) { return 0, b.err }
