package reflector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/verify"
)

const (
	// batchItems and batchBytes bound a batch. With at most waitingBatches waiting, the reception
	// reads a few megabytes ahead of the sink.
	batchItems     = 128
	batchBytes     = 1 << 20
	waitingBatches = 2
	// mostKindless bounds the bytes of the items that wait for the kind of their list.
	mostKindless = 64 << 20
	// gatherFor is the time that items of an initial state wait for more items. A server sends a few
	// at a time, and no reader sees them before all have arrived: waking the loop for each few would
	// cost more than decoding them.
	gatherFor = 20 * time.Millisecond
)

// reception decodes the objects of one answer, on a goroutine of its own, and passes them on in
// batches. It ends with its context; objects read later are dropped.
//
// The goroutine closes the body of a list itself, since a user's transport may have made a body that
// cannot be closed while it is read. The body of a watch is closed by whoever ends the watch, as by
// client-go.
type reception struct {
	list    bool
	ctx     context.Context
	body    io.ReadCloser
	kind    *kindDecoder
	known   func(id) (any, bool) // nil if every object is to be decoded
	strict  bool                 // an object that cannot be decoded ends it
	initial bool                 // an initial state arrives, whose items are gathered
	batches chan []received

	batch []received
	// kindless is true once an item has no kind, nor its list yet. All further items wait for it.
	kindless bool
	bytes    int       // encoded, of the batch
	sent     time.Time // when the last batch was sent; zero before the first

	// Valid once batches is closed:
	head listHead // of a list
	err  error    // the reason for the end; nil at the end of the body
}

// received is an event that a source has sent, or an item of a list, as an Added event.
type received struct {
	watch.Event
	// readHere says that the reflector has read the bytes itself. Then size is the number of bytes
	// and, if they were not decoded, id is the identity that they contain.
	readHere bool
	id       id
	size     int
	// known is the sink's own object of this id, if the sink has it. The bytes are not decoded then.
	known any
	// undecodable is the error of the object's decoder, if it failed.
	undecodable error
	// unexpected is the reason to skip the event, if there is one.
	unexpected error
}

// startReception starts decoding a list or the events of a watch.
func startReception(r *reception, list bool) *reception {
	r.batches = make(chan []received, waitingBatches)
	r.list = list
	go func() {
		defer close(r.batches)
		defer r.caught()
		r.err = errSourceExited // unless it returns
		if list {
			defer r.closeList()
			r.err = r.readList()
		} else {
			r.err = r.readEvents()
		}
		r.send()
	}()
	return r
}

// close ends the reception. It waits a moment for the goroutine, which may be blocked in the
// body.
func (r *reception) close() error {
	_, err := call(r.ctx, func() (struct{}, error) {
		if !r.list {
			_ = r.body.Close() // it is not read to its end
		}
		for range r.batches {
		}
		return struct{}{}, nil
	}, func(struct{}) {})
	return err
}

// closeList closes the body of a list. Closing one that was taken over shows whether it counts.
func (r *reception) closeList() {
	err := r.body.Close()
	if _, taken := r.body.(*takenBody); taken && err != nil {
		r.err = err
	}
}

// caught turns a panic into the reception's error, except in a program that checks itself.
func (r *reception) caught() {
	if verify.On {
		return
	}
	if p := recover(); p != nil {
		r.err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
	}
}

// readList returns the error that a server has sent with a code of success, as client-go does.
func (r *reception) readList() error {
	begins := &beginning{body: r.body}
	err := r.readItems(begins)
	if err != nil && r.head.TypeMeta == statusMeta {
		return cmp.Or(begins.failure(), err)
	}
	return err
}

func (r *reception) readItems(body io.Reader) error {
	items, err := newListItems(body)
	if err != nil {
		return err
	}
	for {
		it, err := items.next()
		r.head = items.head()
		if errors.Is(err, io.EOF) {
			return cmp.Or(r.kind.checkList(r.head), r.setKinds())
		}
		if err != nil {
			return fmt.Errorf("reading a list: %w", err)
		}
		if err := r.addItem(it, &r.head); err != nil {
			return err
		}
	}
}

func (r *reception) readEvents() error {
	events, err := newEventItems(sendingBody{r})
	if err != nil {
		return watchError(err)
	}
	for {
		it, err := events.next()
		if err != nil {
			return watchError(err)
		}
		if r.initial && it.event != watch.Added { // a bookmark ends it: what the store holds then may be an own write's answer
			r.initial, r.known = false, nil
		}
		if err := r.addItem(it, nil); err != nil {
			return err
		}
	}
}

// addItem adds an item of a list, or of a watch if of is nil, to the batch, and passes a full batch
// on.
func (r *reception) addItem(it item, of *listHead) error {
	a, err := r.read(it, of)
	if err != nil {
		return err
	}
	r.batch = append(r.batch, a)
	r.bytes += len(it.data)
	r.kindless = r.kindless || of != nil && !of.isKnown() && lacksKind(a)
	if r.kindless && r.bytes > mostKindless {
		r.batch = nil
		return fmt.Errorf("%w: a list whose kind does not come", errForeign)
	}
	if !r.kindless && (len(r.batch) == batchItems || r.bytes >= batchBytes) {
		r.send()
	}
	return r.ctx.Err()
}

func lacksKind(a received) bool {
	u, ok := a.Object.(*unstructured.Unstructured)
	return ok && u.GetKind() == "" && u.GetAPIVersion() == ""
}

// setKinds gives the items that waited for it the kind of the list, and passes them on.
func (r *reception) setKinds() error {
	if !r.kindless {
		return nil
	}
	if r.head.Kind == "" {
		return fmt.Errorf("%w: a list and an item without a kind", errForeign)
	}
	for all := range slices.Chunk(r.batch, batchItems) {
		for _, a := range all {
			if lacksKind(a) {
				r.head.setKind(a.Object.(*unstructured.Unstructured))
			}
		}
		r.batch = all
		r.send()
	}
	return nil
}

// send passes the batch on, unless its reader has gone.
func (r *reception) send() {
	if len(r.batch) == 0 {
		return
	}
	select {
	case r.batches <- r.batch:
	case <-r.ctx.Done():
	}
	r.batch, r.bytes = nil, 0
	if r.initial {
		r.sent = time.Now()
	}
}

// sendingBody is the body of a watch. It passes the batch on before it waits for more, unless
// items are gathered.
type sendingBody struct{ r *reception }

func (h sendingBody) Read(p []byte) (int, error) {
	if !h.r.initial || time.Since(h.r.sent) >= gatherFor {
		h.r.send()
	}
	return h.r.body.Read(p)
}

// read reads one item: known to the sink, decoded, or undecodable. An error, such as
// for an object without a name, ends the reception.
func (r *reception) read(it item, of *listHead) (a received, err error) {
	a.Type = it.event
	switch it.event {
	case watch.Error:
		a.Object, err = r.kind.status(it)
		return a, err
	case watch.Bookmark:
		a.Object, err = r.kind.bookmark(it)
		return a, err
	}
	a.readHere, a.size = true, len(it.data)
	if a.unexpected = r.kind.check(it); a.unexpected != nil {
		a.id, _ = it.identity() // for the message
		return a, nil           //nolint:nilerr // the event is skipped, and says why
	}
	if r.isKnown(&a, it) {
		return a, nil
	}
	r.kind.name(it)
	a.Object, err = r.kind.decodeTimed(it, of)
	switch {
	case err == nil, r.strict, errors.Is(err, errForeign):
		return a, err
	case errors.Is(err, ErrUnexpected), errors.Is(err, errTable):
		a.unexpected = err
	default:
		named := false
		a.id, named = it.identity()
		if !named {
			return a, err
		}
		a.undecodable = err
	}
	a.Object = nil
	return a, nil
}

// isKnown sets the sink's own object in what was received, if the sink has this version.
func (r *reception) isKnown(a *received, it item) bool {
	if r.known == nil || it.event != watch.Added {
		return false
	}
	o, named := it.identity()
	if !named || o.uid == "" || o.version == "" {
		return false
	}
	known, ok := r.known(o)
	if ok {
		a.id, a.known = o, known
	}
	return ok
}
