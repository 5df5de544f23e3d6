package wire

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
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

const (
	// batchItems and batchBytes limit a batch. With at most waitingBatches waiting batches, the reception
	// reads a few megabytes ahead of the sink.
	batchItems     = 128
	batchBytes     = 1 << 20
	waitingBatches = 2
	// kindlessBytes bounds the items that wait for the kind of their list.
	kindlessBytes = 1 << 30
	// gatherFor is how long items of an initial state wait for more items. A server sends a few at
	// a time, and readers see them only after all have arrived. Waking the loop for every few would
	// cost more than decoding them.
	gatherFor = 20 * time.Millisecond
)

// Reception decodes the objects of an answer on its own goroutine, and passes them on in batches.
// It ends with its context, and drops objects that arrive later.
//
// The goroutine itself closes the body of a list, because a program's transport may return a body
// that must not be closed during a read. Ending a watch closes its body, as in client-go.
type Reception struct {
	// Set before it starts:
	Ctx     context.Context
	Body    io.ReadCloser
	Decoder *Decoder                          // nil if only the head of a list is needed
	Known   func(object.Identity) (any, bool) // nil if every object must be decoded
	Strict  bool                              // an undecodable object ends the reception
	Initial bool                              // an initial state arrives, and its items are gathered
	Taker   Taker                             // nil if the sink gets objects as they are
	Share   *Share                            // nil if there are no foreign objects
	// Unordered means that the watch has no version, and begins with Added events in any order.
	Unordered bool

	// Batches is closed at the end.
	Batches chan []Received

	list  bool
	batch []Received
	// kindless is true after an item without a kind, if the list's kind is not known yet either. All
	// later items then wait for the list's kind.
	kindless bool
	bytes    int       // encoded size of the batch
	buffer   []byte    // memory for the bytes of an object to pack
	sent     time.Time // when the last batch was sent; zero before the first
	dropped  int       // the number of foreign events since the last item that is not foreign
	version  []byte    // the version of the last foreign event; empty if it proves no progress

	// Valid once Batches is closed:
	Head ListHead // the head of a list
	Err  error    // the reason for the end; nil at the end of the body
}

// Received is an event that a source has sent, or an item of a list, as an Added event.
type Received struct {
	watch.Event
	// ReadHere says that the reflector has read the bytes itself. Then Size is the number of bytes
	// and, if they were not decoded, ID is the identity that they contain.
	ReadHere bool
	ID       object.Identity
	Size     int
	// Packed, unless nil, is the object in the sink's form. If Packed is set without an object, the
	// bytes were not decoded.
	Packed any
	// Known is the sink's own object of this id, if the sink has it. The bytes are not decoded then.
	Known any
	// Undecodable is the error of the object's decoder, if it failed.
	Undecodable error
	// Unexpected is the reason to skip the event, if there is one.
	Unexpected error
}

// Receive starts a reception of a list, or of a watch's events, and returns it.
func Receive(r *Reception, list bool) *Reception {
	r.Batches = make(chan []Received, waitingBatches)
	r.list = list
	go func() {
		defer close(r.Batches)
		defer r.caught()
		r.Err = ErrSourceExited // replaced unless the function ends its goroutine
		if list {
			defer r.closeList()
			r.Err = r.readList()
		} else {
			r.Err = r.readEvents()
		}
		if !r.kindless { // otherwise setKinds has sent the batch, or the list has failed
			r.send()
		}
	}()
	return r
}

// Close ends the reception. It waits briefly for the goroutine, which may be blocked in the body.
func (r *Reception) Close() error {
	_, err := Call(r.Ctx, func() (struct{}, error) {
		if !r.list {
			_ = r.Body.Close() // the body is not read to its end
		}
		for range r.Batches {
		}
		return struct{}{}, nil
	}, func(struct{}) {})
	return err
}

// closeList closes the body of a list. If the body was taken over, closing it shows whether it is valid.
func (r *Reception) closeList() {
	err := r.Body.Close()
	if _, taken := r.Body.(*realBody); taken && err != nil {
		r.Err = err
	}
}

// caught turns a panic into the reception's error, except with self-checks.
func (r *Reception) caught() {
	if verify.On {
		return
	}
	if p := recover(); p != nil {
		r.Err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
	}
}

// readList returns an error that a server has sent with a success code, as client-go does.
func (r *Reception) readList() error {
	begins := &beginning{body: r.Body}
	err := r.readItems(begins)
	if err != nil && r.Head.TypeMeta == statusMeta {
		return cmp.Or(begins.failure(), err)
	}
	return err
}

func (r *Reception) readItems(body io.Reader) error {
	items, err := newListItems(body)
	if err != nil {
		return err
	}
	for {
		it, err := items.next()
		r.Head = items.head()
		if errors.Is(err, io.EOF) {
			if err := r.checkHead(); err != nil {
				return err
			}
			return r.setKinds()
		}
		if err != nil {
			return fmt.Errorf("reading a list: %w", err)
		}
		if err := r.addItem(it, &r.Head); err != nil {
			return err
		}
	}
}

func (r *Reception) checkHead() error {
	if r.Decoder == nil {
		return r.Head.check()
	}
	return r.Decoder.checkList(r.Head)
}

// ReadVersion reads the version of a list. It does not decode items, and it closes the body.
func ReadVersion(ctx context.Context, body io.ReadCloser) (string, error) {
	r := Receive(&Reception{Ctx: ctx, Body: body}, true)
	for range r.Batches {
	}
	return r.Head.Version, r.Err
}

// watchError returns the error that ended a watch, or nil. The end of the body, a broken connection and
// a timeout are not errors: the reflector reopens the watch.
func watchError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || connectionBroke(err) {
		return nil
	}
	return err
}

// connectionBroke reports whether client-go repeats a watch after this error.
func connectionBroke(err error) bool {
	return utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err) || utilnet.IsTimeout(err)
}

func (r *Reception) readEvents() error {
	events, err := newEventItems(sendingBody{r})
	if err != nil {
		return watchError(err)
	}
	for {
		it, err := events.next()
		if err != nil {
			return watchError(err)
		}
		if r.begins() && it.event != watch.Added { // from now on, the store may have the answer to an own write
			r.Initial, r.Unordered, r.Known = false, false, nil
		}
		if err := r.addItem(it, nil); err != nil {
			return err
		}
	}
}

// begins reports whether the watch is in its initial Added events: it is a stream, or has no version.
func (r *Reception) begins() bool { return r.Initial || r.Unordered }

// addItem adds an item of a list, or of a watch if of is nil, to the batch. It sends a full batch.
func (r *Reception) addItem(it item, of *ListHead) error {
	if r.Decoder == nil || r.Share != nil && r.drops(it) {
		return r.Ctx.Err()
	}
	a, err := r.read(it, of)
	if err != nil {
		return err
	}
	r.batch = append(r.batch, a)
	r.bytes += len(it.data)
	r.kindless = r.kindless || of != nil && !of.isKnown() && lacksKind(a)
	switch {
	case r.kindless && r.bytes > kindlessBytes:
		return fmt.Errorf("%w: more than %d bytes of items without a kind before the kind of their list", ErrBadAnswer, kindlessBytes)
	case !r.kindless && (len(r.batch) == batchItems || r.bytes >= batchBytes):
		r.send()
	}
	return r.Ctx.Err()
}

func lacksKind(a Received) bool {
	u, ok := a.Object.(*unstructured.Unstructured)
	return ok && u.GetKind() == "" && u.GetAPIVersion() == ""
}

// setKinds gives the list's kind to the items that waited for it, and sends them.
func (r *Reception) setKinds() error {
	if !r.kindless {
		return nil
	}
	if r.Head.Kind == "" {
		return fmt.Errorf("%w: a list and an item without a kind", ErrBadAnswer)
	}
	for all := range slices.Chunk(r.batch, batchItems) {
		for _, a := range all {
			if lacksKind(a) {
				r.Head.setKind(a.Object.(*unstructured.Unstructured))
			}
		}
		r.batch = all
		r.send()
	}
	return nil
}

// send sends the batch, unless the receiver has ended.
func (r *Reception) send() {
	r.tellDropped()
	if len(r.batch) == 0 {
		return
	}
	select {
	case r.Batches <- r.batch:
	case <-r.Ctx.Done():
	}
	r.batch, r.bytes = nil, 0
	if r.Initial {
		r.sent = time.Now()
	}
}

// sendingBody is the body of a watch. It sends the batch before it waits for more bytes, unless items
// are being gathered.
type sendingBody struct{ r *Reception }

func (h sendingBody) Read(p []byte) (int, error) {
	if !h.r.Initial || time.Since(h.r.sent) >= gatherFor {
		h.r.send()
	}
	return h.r.Body.Read(p)
}

// read reads an item. The sink already has the object, or it is decoded, or it is undecodable. An error,
// for instance for an object without a name, ends the reception.
func (r *Reception) read(it item, of *ListHead) (a Received, err error) {
	a.Type = it.event
	switch it.event {
	case watch.Error:
		a.Object, err = r.Decoder.status(it)
		return a, err
	case watch.Bookmark:
		a.Object, err = r.Decoder.bookmark(it)
		return a, err
	}
	a.ReadHere, a.Size = true, len(it.data)
	if a.Unexpected = r.Decoder.check(it); a.Unexpected != nil {
		a.ID, _ = it.identity() // for the message
		return a, nil           //nolint:nilerr // the event is skipped, and has the reason
	}
	if r.isKnown(&a, it) || r.packUndecoded(&a, it, of) {
		return a, nil
	}
	a.Object, err = r.Decoder.decodeTimed(it, of)
	if err == nil && r.Taker != nil {
		if data, form, ok := it.toPack(a.Object, of, &r.buffer); ok {
			a.Packed = r.Taker.Take(a.Object, data, form)
		}
	}
	switch {
	case errors.Is(err, ErrUnexpected), errors.Is(err, ErrTable):
		a.Unexpected = err
		a.ID, _ = it.identity() // for the message
	case err == nil, r.Strict, errors.Is(err, ErrBadAnswer):
		return a, err
	default:
		named := false
		a.ID, named = it.identity()
		if !named {
			return a, err
		}
		a.Undecodable = err
	}
	a.Object = nil
	return a, nil
}

// packUndecoded packs an object of an initial state in protobuf without decoding it. Programs do not read most of
// these objects soon, and a sink may have no room for decoded objects. packUndecoded reports whether it has
// packed the object.
func (r *Reception) packUndecoded(a *Received, it item, of *ListHead) bool {
	if r.Taker == nil || r.Strict || !r.list && !r.Initial || it.event != watch.Added || it.format != formatProtobuf {
		return false
	}
	id, named := it.identity()
	data, form, packs := it.toPack(nil, of, nil)
	if !named || !packs {
		return false
	}
	a.ID, a.Packed = id, r.Taker.TakeUndecoded(id.Key.Namespace, id.Key.Name, data, form)
	return a.Packed != nil
}

// isKnown uses the sink's own object if the sink has this version.
func (r *Reception) isKnown(a *Received, it item) bool {
	if r.Known == nil || it.event != watch.Added {
		return false
	}
	o, named := it.identity()
	if !named || o.UID == "" || o.Version == "" {
		return false
	}
	known, ok := r.Known(o)
	if ok {
		a.ID, a.Known = o, known
	}
	return ok
}
