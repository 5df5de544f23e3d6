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

// Sink is a reflector's sink that keeps the objects. An informer's sink does.
type Sink interface {
	// Connect is called once, when the reflector is made. It gets the reflector's functions for the sink,
	// and returns how the reflector must decode.
	Connect(r Reflector) Form

	// Recall returns the stored object that was made from this version of the server's object. The object
	// has passed the transform. Name, UID and version are never empty. Any goroutine may call Recall,
	// also after the end of the run. It does not block. The reflector then writes the object to the sink
	// with Recalled set, in its place in the order.
	Recall(id object.Identity) (any, bool)
	// Reuse is called with the objects of a list that a client has decoded, before they are written. If
	// the sink holds an object in the same version, it may replace Object by the stored object, and set
	// Recalled. It must not keep the listed objects.
	Reuse(listed []deltafifo.Delta)

	// Linked is called before the first answer of the source that passes through an OwnWrites is read.
	// selects says that requests have, or may have, a label or field selector. A DELETED event then only
	// says that the object no longer matches.
	Linked(selects bool)
	// Unlinked is called if a request of the source goes to another server, or is sent as another user,
	// than earlier requests. The run gets no more answers.
	Unlinked()
	// Begins is called before the request of a write is sent. It does not block.
	Begins(key indexer.Key) ownwrites.Before
	// Answered is called with the answer to a write. It returns when the store shows the answer, or when
	// it is certain that the store will not. Many goroutines may call it at once, also after the end of
	// the run.
	Answered(a ownwrites.Answer)
	// Missed counts an answer that is never shown, or is shown only after the caller of the write has
	// continued. It does not block.
	Missed(a ownwrites.Answer)
	// Late counts the answers that the informer had not shown when their callers continued. The sinks of
	// one informer share the counter.
	Late() *atomic.Int32
}

// Reflector is what a reflector provides to its sink: decoders of packed objects, and functions that any
// goroutine may call, also after the end of the run.
type Reflector struct {
	// Encoded decodes objects that the sink has encoded. It is nil if their type is unknown.
	Encoded pack.Decoder
	// Received decodes the bytes of the source's answers. It is nil if a client decodes the answers.
	// Two sources with equal Objects decode alike.
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

// Form says how a reflector decodes the objects of a source.
type Form struct {
	// Values is the table of shared values, or nil. Deep says that decoding shares more than strings.
	Values *share.Table
	Deep   bool
	// Packs packs the bytes of objects. It is nil if the sink gets objects as they are.
	Packs pack.Taker
	// Timed gets the decoding time of every 64th object. It is nil if the sink does not measure decoding.
	Timed func(took time.Duration)
}

const (
	// MinTimeout is the shortest timeout of a watch request.
	MinTimeout = 5 * time.Minute
	// WatchPatience is how long a watch may send nothing after its timeout.
	WatchPatience = 30 * time.Second
)

// LongestWatch returns the longest silence after which a reflector with this MinWatchTimeout reopens a watch.
// The reflector requests watches with timeouts of up to twice that.
func LongestWatch(minWatchTimeout time.Duration) time.Duration {
	return 2*max(MinTimeout, minWatchTimeout) + WatchPatience
}
