package measure

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// MomentEvery is the number of seconds between two moments of the history.
	MomentEvery = 5
	// MostMoments is the number of moments kept.
	MostMoments = int(KeepFor/time.Second) / MomentEvery
)

// Inspection holds the measurements of an inspected informer. It takes less than 64 kB.
type Inspection struct {
	Epoch  *Epoch
	Recent RecentEvents
	Weight Weighing

	mu      sync.Mutex
	marks   marks
	moments []Moment // of the history, at most MostMoments
	before  Moment   // the previous moment, or the beginning of the measuring; its counts are of all events so far
}

// New begins the measuring at a position of the log, and at a moment whose counts are of all events so far.
func New(position uint64, now Moment) *Inspection {
	epoch := newEpoch()
	m := &Inspection{Epoch: epoch, Recent: RecentEvents{epoch: epoch}, marks: newMarks(), before: now}
	m.marks.add(position, epoch.now())
	return m
}

// Tick marks the current end of the log. It is called once a second while the informer runs.
func (m *Inspection) Tick(position uint64) {
	now := m.Epoch.tick()
	m.mu.Lock()
	defer m.mu.Unlock()

	m.marks.add(position, now)
}

// Age returns the age of the event at a position of the log, to within a second or 3 % of the age.
func (m *Inspection) Age(position uint64) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()

	at, ok := m.marks.noted(position)
	if !ok {
		return 0
	}
	return m.Epoch.now() - at
}

// Moment is the state of an informer at a point in time.
type Moment struct {
	At        time.Time
	Events    uint64 // since the previous moment, like Decodes
	Decodes   uint64
	Objects   int
	Bytes     int64
	Lag       time.Duration
	Staleness time.Duration
}

// Note adds a moment to the history. Its counts are of all events so far.
func (m *Inspection) Note(now Moment) {
	m.mu.Lock()
	defer m.mu.Unlock()

	noted := now
	noted.Events -= m.before.Events
	noted.Decodes -= m.before.Decodes
	m.before = now
	m.moments = append(m.moments[max(0, len(m.moments)+1-MostMoments):], noted)
}

// History returns the moments of the last 15 minutes, the newest last.
func (m *Inspection) History() []Moment {
	m.mu.Lock()
	defer m.mu.Unlock()

	return slices.DeleteFunc(slices.Clone(m.moments), func(moment Moment) bool { return time.Since(moment.At) > KeepFor })
}

// Epoch measures time from the moment when an informer's measuring began.
type Epoch struct {
	zero   time.Time    // just before the beginning, so that now never returns 0
	second atomic.Int64 // the time of the last tick
}

func newEpoch() *Epoch { return &Epoch{zero: time.Now().Add(-1)} }

// now returns the time since the measuring began. It never returns 0.
func (e *Epoch) now() time.Duration { return time.Since(e.zero) }

// tick returns the time, and keeps it for lastTick, for callers that cannot afford a call of now.
func (e *Epoch) tick() time.Duration {
	now := e.now()
	e.second.Store(int64(now))
	return now
}

// lastTick returns the time of the last tick, which is the current time to within about a second.
func (e *Epoch) lastTick() time.Duration { return time.Duration(e.second.Load()) }

// at converts a time since the beginning into a time of day.
func (e *Epoch) at(now time.Duration) time.Time { return e.zero.Add(now) }
