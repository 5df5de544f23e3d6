package informer

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Inspector looks into an informer for those who watch over it: a metrics endpoint, a
// page, a debugger. It tells what [Status] does not, since it costs something to know.
// An informer measures from the first call of its Inspector method on, for as long as it is
// there; one that nobody inspects measures nothing. All methods are safe for any goroutine,
// and wait neither for the store nor for a handler.
type Inspector struct{ core *core }

// Inspector returns what looks into the informer, and makes it measure from now on.
func (i *Informer[T]) Inspector() *Inspector { return i.core.Inspector() }

// Inspector is [Informer.Inspector].
func (c *core) Inspector() *Inspector {
	c.measured()
	return &Inspector{c}
}

// Status is [Informer.Status].
func (i *Inspector) Status() Status { return i.core.Status() }

// HandlerMeasures are what was measured of one handler.
type HandlerMeasures struct {
	Name string
	// Lag is the age of the oldest event that the handler is still to be told, to within
	// a second, or 3 % of it; zero where there is none. What was published before
	// the measuring began counts from then.
	Lag time.Duration
	// Sampled is how many calls were timed, and Took how long these took: all calls of a
	// handler that takes 4 microseconds or longer; of a quicker one, one in 32, and all that
	// took longer than two seconds.
	Sampled uint64
	Took    time.Duration
	// Calling is since when the present call lasts, to within a second; zero where none
	// has lasted as long. One that began before the measuring counts from then.
	Calling time.Time
	// Slowest are the slowest calls that were timed in the last 15 minutes, the slowest
	// first, at most 5. The present call is among them where Calling tells of one.
	Slowest []SlowCall
}

// SlowCall is a call of a handler that took long.
type SlowCall struct {
	// Key is that of the object that the handler was told of, of several the first. It is
	// empty for a call that has not returned where a handler that was quick is in a burst of
	// events, or has Latest delivery, and where the call began before the measuring.
	Key  indexer.Key
	At   time.Time
	Took time.Duration // so far, where it has not returned
}

// Handlers returns the measures of all handlers, in the order of Status.
func (i *Inspector) Handlers() []HandlerMeasures {
	m, p := i.core.measured(), i.core.processor
	registrations := p.all()
	all := make([]HandlerMeasures, 0, len(registrations))
	for _, r := range registrations {
		of := HandlerMeasures{Name: r.options.Name, Lag: m.lag(r.feed)}
		p.measure(r, &of)
		all = append(all, of)
	}
	return all
}

// sinceEver says that the handler has been in a call for as long as there are measures.
func (h *HandlerMeasures) sinceEver(clock *clock) {
	if lasts := clock.now(); lasts >= stuckAfter {
		h.Calling = clock.at(0)
		h.Slowest = []SlowCall{{At: h.Calling, Took: lasts}}
	}
}

// Memory is what an informer holds, in bytes of the heap. Both are estimates, which
// are within some percent where there are many objects.
type Memory struct {
	At time.Time // when the objects were measured; zero where they have not been yet
	// Objects are the stored objects, and the values that are kept to be shared by others to come.
	// A value that several of them share counts once.
	Objects int64
	// Engine is the store's tables and indexes, the table of shared values, and the events that
	// wait for handlers. The old versions of objects, which these events hold, count nowhere.
	Engine int64
}

// Memory returns what the informer holds. Objects are measured in the background, about
// once a minute.
func (i *Inspector) Memory() Memory { return i.core.measured().weight.last() }

// RecentEvent is a change as it was told to the handlers, without its object. At is when that
// was, to within about a second.
type RecentEvent struct {
	At      time.Time
	Kind    Kind
	Key     indexer.Key
	Version string
}

// Recent returns the last 200 changes, the newest last. The first full state is not among
// them.
func (i *Inspector) Recent() []RecentEvent {
	return i.core.measured().recent.all()
}

// Moment is how an informer was at one time.
type Moment struct {
	At        time.Time
	Events    uint64 // added, updated and deleted since the moment before
	Objects   int
	Bytes     int64         // of the heap, see [Memory]
	Lag       time.Duration // that of the handler that lags most
	Staleness time.Duration
}

// History returns how the informer was in the last 15 minutes, in steps of 5 seconds, the
// newest last. While the informer does not run there are none.
func (i *Inspector) History() []Moment { return i.core.measured().history() }

// IndexMeasures are what an index is filled with.
type IndexMeasures struct {
	Name       string // or the label key
	Namespaced bool   // a label's objects are listed in each namespace; that key may be there twice
	Values     int    // how many different ones there are
	Entries    int    // objects under all values together
}

// Indexes returns the indexes, in the order of their names. It counts them, which takes
// as long as there are values.
func (i *Inspector) Indexes() []IndexMeasures {
	return measuresOf(i.core.writer.Indexer().IndexSizes())
}

// LabelIndexes returns the label keys that objects are listed by, see
// [indexer.Indexer.LabelIndexes], in the order of the keys. It counts as Indexes does.
func (i *Inspector) LabelIndexes() []IndexMeasures {
	return measuresOf(i.core.writer.Indexer().LabelIndexSizes())
}

func measuresOf(sizes []indexer.IndexSize) []IndexMeasures {
	all := make([]IndexMeasures, 0, len(sizes))
	for _, s := range sizes {
		all = append(all, IndexMeasures(s))
	}
	slices.SortStableFunc(all, func(a, b IndexMeasures) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// QuarantinedObject is an object that could not be decoded or transformed.
type QuarantinedObject struct {
	Key   indexer.Key
	Since time.Time
	Err   error
}

// Quarantined returns the objects that are held back, at most 100, in the order in which
// they came.
func (i *Inspector) Quarantined() []QuarantinedObject { return i.core.quarantined.all() }

// DecodeMeasures are how long objects took to decode: one in 64 is timed.
type DecodeMeasures struct {
	Sampled uint64
	Took    time.Duration
}

// Decoding returns how long decoding took.
func (i *Inspector) Decoding() DecodeMeasures {
	sampled, took := i.core.decodeTimes.Totals()
	return DecodeMeasures{sampled, took}
}
