package keeper

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/internal/pack"
	"github.com/tidemark-k8s/tidemark/internal/share"
)

// Sink is a reflector's sink that keeps the objects, as an informer's does.
type Sink interface {
	// Connect is called once, when the reflector is made. It gets what the reflector has for the sink, and returns
	// how the reflector is to decode.
	Connect(r Reflector) Form

	// Recall returns the stored object that was made from this version of the server's object, already
	// transformed. Name, UID and version are never empty. Any goroutine may call it, also after the end of the run.
	// It does not block. The reflector writes the object to the sink, too, in its place in the order, with Recalled
	// set.
	Recall(id object.Identity) (any, bool)
	// Reuse is called with the objects of a list that a client has decoded, before they are written. For each
	// object that the sink holds in the same version, it may set Object to its own one, and Recalled. It must not
	// keep the listed objects.
	Reuse(listed []deltafifo.Delta)

	// Linked is called when the first request of the source passes through an OwnWrites, before its answer
	// is read. selects says that the request has a label or a field selector, or may have another one: a
	// DELETED event says only that the source does not read the object any more.
	Linked(selects bool)
	// Unlinked is called if a request of the source goes to another server, or as another user, than those before.
	// The run gets no answers any more.
	Unlinked()
	// Begins is called when the request of a write begins, before it is sent. It waits for nothing.
	Begins(key indexer.Key) ownwrites.Before
	// Answered is called with the answer to a write. It returns when the store shows the answer, or when it is
	// clear that the store will not. It may be called by many goroutines at once, also after the end of the run.
	Answered(a ownwrites.Answer)
	// Missed counts an answer that is not shown, or not before the caller of the write has gone on. It waits for
	// nothing.
	Missed(a ownwrites.Answer)
	// Late counts the answers that the informer has not shown when the callers have gone on. The sinks of one
	// informer have the same counter.
	Late() *atomic.Int32
}

// Reflector is what a reflector has for its sink: decoders of packed objects, and functions that any goroutine may
// call, also after the end of the run.
type Reflector struct {
	// Encoded decodes objects that the sink has encoded itself. It is nil if their type is not known.
	Encoded pack.Decoder
	// Received decodes the bytes of the source's answers. It is nil if a client decodes the answers. Objects is equal
	// for equal decoders.
	Received pack.Decoder
	Objects  any

	// AskForBookmark makes the reflector find out how far its watch has come when nothing changes. The reflector
	// reopens the watch for three seconds, because a server sends a bookmark before it ends a watch, and the sink
	// gets the bookmark. If no watch is open, the reflector does so with the next one. AskForBookmark does not
	// wait. It does nothing within two seconds of another call, and for a source that may be a fake: a source that
	// is not known to stream and has sent no bookmark.
	AskForBookmark func()
	// Foreign returns the number of objects and events outside the share that the reflector has dropped. For
	// people, it also says whether the server leaves out foreign objects: "filters" if the last full state had
	// objects, all of them in the share, and nothing foreign has arrived since; "does not filter" if something
	// foreign has arrived since the last such state; otherwise "".
	Foreign func() (dropped uint64, server string)
}

// Form is how a reflector decodes the objects of a source.
type Form struct {
	// Values is the table of shared values, nil for none. Deep says that decoding shares more than strings.
	Values *share.Table
	Deep   bool
	// Packs packs the bytes of objects. It is nil if the sink gets objects as they are.
	Packs pack.Taker
	// Timed gets the decoding time of one object in 64. It is nil if the sink does not measure decoding.
	Timed func(took time.Duration)
}
