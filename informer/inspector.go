package informer

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/engine"
)

// Inspector returns measurements of an informer for a metrics endpoint, a page or a debugger. Unlike
// [Status], they have a cost: the first call of [Informer.Inspector] starts the measuring, which lasts as
// long as the informer. All methods are safe for concurrent use, and wait neither for the store nor for a
// handler.
type Inspector struct{ core *engine.Core }

// Inspector returns an inspector of the informer, and starts the measuring.
func (i *Informer[T]) Inspector() *Inspector { return inspectorOf(i.core) }

func inspectorOf(c *engine.Core) *Inspector {
	c.Inspect()
	return &Inspector{c}
}

// HandlerMeasures are the measurements of one handler.
type HandlerMeasures struct {
	Name string
	// Lag is the age of the oldest undelivered event, to within a second or 3% of the age; zero without one.
	// The age of events from before the measuring counts from its start.
	Lag time.Duration
	// Sampled is the number of calls since the measuring started, and Took is their total time.
	Sampled uint64
	Took    time.Duration
	// Calling is the start of the current call; zero if the call is younger than a second. A call from before
	// the measuring counts from its start.
	Calling time.Time
	// Slowest are the slowest calls of the last 15 minutes, at most 5, the slowest first. If Calling is set,
	// the current call comes before them.
	Slowest []SlowCall
}

// SlowCall is a slow call of a handler.
type SlowCall struct {
	// Key is the key of the handled object, or of the first of several. It is empty for a call that started
	// before the measuring and has not returned.
	Key  indexer.Key
	At   time.Time
	Took time.Duration // so far, if the call has not returned
}

// Handlers returns the measurements of all handlers, in the order of Status.
func (i *Inspector) Handlers() []HandlerMeasures {
	m := i.core.Inspect()
	registrations := i.core.Registrations()
	all := make([]HandlerMeasures, 0, len(registrations))
	for _, r := range registrations {
		calls := r.Calls()
		of := HandlerMeasures{Name: r.Name(), Lag: r.Lag(m), Sampled: calls.Sampled, Took: calls.Took, Calling: calls.Calling}
		for _, slow := range calls.Slowest {
			of.Slowest = append(of.Slowest, SlowCall(slow))
		}
		all = append(all, of)
	}
	return all
}

// Memory is the heap memory of an informer in bytes. The numbers are estimates, good to a few percent with
// many objects.
type Memory struct {
	At time.Time // when the objects were measured; zero before the first time
	// Objects is the size of the stored objects, and of the values kept for sharing. A value that several
	// objects share counts once. For an informer with [Storage].Decoded, Packed is the size of the packed
	// objects, and Decoded that of the objects that the budget keeps decoded. Objects includes both, and the
	// pinned objects.
	Objects, Packed, Decoded int64
	// Engine is the size of the store's tables and indexes, the table of shared values, and the undelivered
	// events, without the old versions of objects that these events hold.
	Engine int64
}

// Memory returns the memory of the informer. Objects are measured in the background, about once a minute.
func (i *Inspector) Memory() Memory { return Memory(i.core.Inspect().Weight.Last()) }

// RecentEvent is a change, without its object. At is accurate to about a second.
type RecentEvent struct {
	At      time.Time
	Kind    Kind
	Key     indexer.Key
	Version string
}

// Recent returns the last 200 changes, the newest last. The first full state is left out.
func (i *Inspector) Recent() []RecentEvent {
	last := i.core.Inspect().Recent.All()
	all := make([]RecentEvent, 0, len(last))
	for _, e := range last {
		all = append(all, RecentEvent{e.At, Kind(e.Kind), e.Key, e.Version})
	}
	return all
}

// Moment is the state of an informer at one time.
type Moment struct {
	At        time.Time
	Events    uint64 // added, updated and deleted since the previous moment
	Decodes   uint64 // packed objects decoded since the previous moment, see [StorageStatus]
	Objects   int
	Bytes     int64         // of the heap, see [Memory]
	Lag       time.Duration // the largest lag of any handler
	Staleness time.Duration
}

// History returns the states of the last 15 minutes, in steps of 5 seconds, the newest last. A stopped
// informer adds none.
func (i *Inspector) History() []Moment {
	var all []Moment
	for _, moment := range i.core.Inspect().History() {
		all = append(all, Moment(moment))
	}
	return all
}

// Indexes returns the sizes of the indexes, by name. It takes time proportional to the number of values.
func (i *Inspector) Indexes() []indexer.IndexSize {
	return byName(i.core.Writer().Indexer().IndexSizes())
}

// LabelIndexes returns the sizes of the label indexes (see [indexer.Indexer.Select]), by key. It takes as
// long as Indexes.
func (i *Inspector) LabelIndexes() []indexer.IndexSize {
	return byName(i.core.Writer().Indexer().LabelIndexSizes())
}

func byName(sizes []indexer.IndexSize) []indexer.IndexSize {
	slices.SortStableFunc(sizes, func(a, b indexer.IndexSize) int { return cmp.Compare(a.Name, b.Name) })
	return sizes
}

// Quarantined returns the quarantined objects, at most 100, the oldest first.
func (i *Inspector) Quarantined() []QuarantinedObject { return i.core.Quarantined() }

// Decoding returns the number of timed objects since the measuring started, and the time that they took to
// decode. One object in 64 is timed.
func (i *Inspector) Decoding() (sampled uint64, took time.Duration) {
	return i.core.DecodeTimes()
}
