package informer

import (
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Inspector looks into an informer for those who watch over it: a metrics endpoint, a
// page, a debugger. It tells what [Status] does not, since it costs something to know.
// An informer measures from the first call of its Inspector method on; one that nobody
// inspects measures nothing. All methods are safe for any goroutine, and wait neither for
// the store nor for a handler.
type Inspector struct{ core *core }

// Inspector returns what looks into the informer, and makes it measure from now on.
func (i *Informer[T]) Inspector() *Inspector { return i.core.Inspector() }

// Inspector is [Informer.Inspector].
func (c *core) Inspector() *Inspector { return &Inspector{c} }

// Status is [Informer.Status].
func (i *Inspector) Status() Status { return i.core.Status() }

// HandlerMeasures are what was measured of one handler.
type HandlerMeasures struct {
	Name string
	// Lag is the age of the oldest event that the handler is still to be told, to within
	// a second; zero where there is none. What waited before the measuring began counts
	// from then.
	Lag time.Duration
	// Sampled is how many calls were timed, one in 64 and all that took longer than a
	// second, and Took how long these took.
	Sampled uint64
	Took    time.Duration
	// Calling is since when the present call lasts, to within a second; zero where none
	// has lasted as long.
	Calling time.Time
	// Slowest are the slowest calls that were timed in the last 15 minutes, the slowest
	// first, at most 5.
	Slowest []SlowCall
}

// SlowCall is a call of a handler that took long.
type SlowCall struct {
	Key  indexer.Key // of the object that it was told of
	At   time.Time
	Took time.Duration // so far, where it has not returned
}

// Handlers returns the measures of all handlers, in the order of Status.
func (i *Inspector) Handlers() []HandlerMeasures { return nil }

// Memory is what an informer holds, in bytes of the heap.
type Memory struct {
	At time.Time // when the objects were measured; zero where they have not been yet
	// Objects are the stored objects. A value that several of them share counts once.
	Objects int64
	// Engine is the store's tables and indexes, and the events that wait for handlers.
	Engine int64
}

// Memory returns what the informer holds. Objects are measured in the background, about
// once a minute.
func (i *Inspector) Memory() Memory { return Memory{} }

// RecentEvent is an event as it was told to the handlers, without its object.
type RecentEvent struct {
	At      time.Time
	Kind    Kind
	Key     indexer.Key
	Version string
}

// Recent returns the last 200 events, the newest last.
func (i *Inspector) Recent() []RecentEvent { return nil }

// Moment is how an informer was at one time.
type Moment struct {
	At        time.Time
	Events    uint64 // told to the handlers since the moment before
	Objects   int
	Bytes     int64         // of the heap, see [Memory]
	Lag       time.Duration // that of the handler that lags most
	Staleness time.Duration
}

// History returns how the informer was in the last 15 minutes, in steps of 5 seconds, the
// newest last.
func (i *Inspector) History() []Moment { return nil }

// IndexMeasures are what an index is filled with.
type IndexMeasures struct {
	Name    string
	Values  int // how many different ones there are
	Entries int // objects under all values together
}

// Indexes returns the indexes, in the order of their names.
func (i *Inspector) Indexes() []IndexMeasures { return nil }

// LabelIndexes returns the label keys that objects are listed by, see
// [indexer.Indexer.LabelIndexes].
func (i *Inspector) LabelIndexes() []IndexMeasures { return nil }

// QuarantinedObject is an object that could not be decoded or transformed.
type QuarantinedObject struct {
	Key   indexer.Key
	Since time.Time
	Err   error
}

// Quarantined returns the objects that are held back, at most 100.
func (i *Inspector) Quarantined() []QuarantinedObject { return nil }

// DecodeMeasures are how long objects took to decode: one in 64 is timed.
type DecodeMeasures struct {
	Sampled uint64
	Took    time.Duration
}

// Decoding returns how long decoding took.
func (i *Inspector) Decoding() DecodeMeasures { return DecodeMeasures{} }
