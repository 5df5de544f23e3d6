package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/object"
)

// Arrival is the time when an event was in the store, and when each handler had been told it.
type Arrival struct {
	Version string // of the event, or of the full state that replaced it
	Stored  time.Time
	Told    []ToldHandler // in the order of [Status]
}

// ToldHandler is the time when a handler's call for an event had returned.
type ToldHandler struct {
	Handler string
	At      time.Time // zero if the handler was stopped before
}

// ArrivalAfter waits for the first event from now on that is newer than a resourceVersion, until
// the store has it and all handlers registered at that moment were told it. Bookmarks are no
// events. If ctx ends or the informer stops before, it returns the error of
// [Informer.WaitDelivered].
func (i *Inspector) ArrivalAfter(ctx context.Context, version string) (Arrival, error) {
	e := i.core.arrivals.expect(func(d *deltafifo.Delta) bool { return object.Older(version, d.Version) })
	defer i.core.arrivals.forget(e)
	return i.core.arrival(ctx, e, func(came string) bool { return object.Older(version, came) })
}

// ArrivalOf measures a write. It waits until the store is complete, and calls write, which changes
// the object of a key and returns its new resourceVersion. Then it waits for that change, or a
// later one of the object, as ArrivalAfter does. It returns an error of write, too.
func (i *Inspector) ArrivalOf(ctx context.Context, key indexer.Key, write func(context.Context) (version string, err error)) (Arrival, error) {
	if err := i.core.WaitSynced(ctx); err != nil {
		return Arrival{}, err
	}
	e := i.core.arrivals.expect(func(d *deltafifo.Delta) bool { return d.Key == key })
	defer i.core.arrivals.forget(e)
	version, err := write(ctx)
	if err != nil {
		return Arrival{}, fmt.Errorf("informer %s: write %q: %w", i.core.options.Name, key, err)
	}
	return i.core.arrival(ctx, e, func(came string) bool { return !object.Older(came, version) })
}

// arrival waits until an expected event of the right version has come, and handlers were told it.
func (c *core) arrival(ctx context.Context, e *expected, right func(version string) bool) (Arrival, error) {
	for {
		if found, ok := e.find(right); ok {
			return c.told(ctx, found)
		}
		select {
		case <-e.came:
		case <-c.done():
			return Arrival{}, c.status.because(fmt.Errorf("informer %s: %w", c.options.Name, ErrStopped))
		case <-ctx.Done():
			return Arrival{}, c.status.because(fmt.Errorf("informer %s: no such event has come: %w", c.options.Name, context.Cause(ctx)))
		}
	}
}

// told waits until the handlers were told a sighted event.
func (c *core) told(ctx context.Context, s sighting) (Arrival, error) {
	a := Arrival{Version: s.version, Stored: s.at}
	for _, d := range s.debts {
		if err := c.waitTold(ctx, d); err != nil {
			return a, err
		}
		a.Told = append(a.Told, ToldHandler{Handler: d.to.options.Name, At: d.waiter.toldAt()})
	}
	return a, nil
}

// arrivals holds the expected events. The processLoop checks in each write section whether there
// are any.
type arrivals struct {
	count atomic.Int32 // len(all)

	mu  sync.Mutex
	all []*expected
}

// expected is an event that a caller waits for.
type expected struct {
	is   func(*deltafifo.Delta) bool
	came chan struct{} // holds a token after a sighting

	mu   sync.Mutex
	seen []sighting
}

// sighting is an expected event that has come.
type sighting struct {
	version string
	at      time.Time
	debts   []debt // of the handlers, for everything up to the event
}

// maxSeen is the number of sightings kept for an expected event: of an object that changes more
// often, the last ones.
const maxSeen = 64

func (a *arrivals) expect(is func(*deltafifo.Delta) bool) *expected {
	a.mu.Lock()
	defer a.mu.Unlock()

	e := &expected{is: is, came: make(chan struct{}, 1)}
	a.all = append(a.all, e)
	a.count.Add(1)
	return e
}

// forget ends an expectation, and the debts of handlers to it.
func (a *arrivals) forget(e *expected) {
	a.mu.Lock()
	a.all = slices.DeleteFunc(a.all, func(other *expected) bool { return other == e })
	a.count.Store(int32(len(a.all))) //nolint:gosec // few
	a.mu.Unlock()

	e.mu.Lock()
	defer e.mu.Unlock()

	for _, s := range e.seen {
		settle(s.debts)
	}
	e.seen = nil
}

// some reports whether any event is expected. It costs next to nothing.
func (a *arrivals) some() bool { return a.count.Load() > 0 }

// note compares the published changes of a write section with the expected events. The caller is in
// the section.
func (a *arrivals) note(changes []deltafifo.Delta, owed func() []debt) {
	if !a.some() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()

	now := time.Now()
	for i := range changes {
		for _, e := range a.all {
			if d := &changes[i]; d.Op <= deltafifo.Deleted && e.is(d) {
				e.add(sighting{d.Version, now, owed()})
			}
		}
	}
}

// add adds a sighting, unless the expectation has ended meanwhile.
func (e *expected) add(s sighting) {
	e.mu.Lock()
	defer e.mu.Unlock()

	if len(e.seen) == maxSeen {
		settle(e.seen[0].debts)
		e.seen = slices.Delete(e.seen, 0, 1)
	}
	e.seen = append(e.seen, s)
	select {
	case e.came <- struct{}{}:
	default:
	}
}

// find returns the first sighting of the right version.
func (e *expected) find(right func(version string) bool) (sighting, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()

	for _, s := range e.seen {
		if right(s.version) {
			return s, true
		}
	}
	return sighting{}, false
}
