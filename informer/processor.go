package informer

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// lagSegments is how many segments a handler with Latest delivery may lag
// before the publisher merges for it.
const lagSegments = 4

// sharedProcessor fans the log out to the registrations. Publishing costs the
// same for any number of handlers, but for waking those that sleep.
//
// Lock order: the indexer's write section, then mu, then a registration's mu.
type sharedProcessor struct {
	log *eventLog
	// syncedAt is the position at which the store was complete; MaxUint64
	// before that.
	syncedAt atomic.Uint64
	// began is set with the first commit. Written in write sections, read there.
	began bool

	mu            sync.Mutex
	registrations []*registration
	count         atomic.Int32 // len(registrations); written under mu
	asleep        atomic.Int32 // how many of them wait to be woken; written under mu
	latest        int          // how many of them have Latest delivery
	// spare pools the room for taken events: a registration that sleeps has none.
	spare sync.Pool
	// resting holds what is closed when a registration has nothing left to deliver.
	resting map[*registration]chan struct{}
}

func newSharedProcessor() *sharedProcessor {
	p := &sharedProcessor{log: newEventLog()}
	p.syncedAt.Store(math.MaxUint64)
	return p
}

// publish shows the appended events to the handlers. The caller is in a write
// section.
func (p *sharedProcessor) publish() {
	grown := p.log.first != p.log.tail
	p.log.publish()
	if p.count.Load() == 0 {
		p.log.clear()
	}
	if p.asleep.Load() > 0 {
		p.wakeAll()
	}
	if grown {
		p.relieve()
	}
}

// begin gives every registration the initial state to replay; they follow the
// log from here. It is called in the write section of the first commit.
func (p *sharedProcessor) begin(tx *indexer.Tx) {
	p.began = true
	p.mu.Lock()
	for _, r := range p.registrations {
		r.begin(tx.Snapshot(), p.log.published)
	}
	p.mu.Unlock()
	p.wakeAll()
}

// synced marks the store complete as of here. The caller is in a write section.
func (p *sharedProcessor) synced() {
	p.syncedAt.Store(p.log.end.Load())
	p.wakeAll()
}

func (p *sharedProcessor) wakeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, r := range p.registrations {
		p.wake(r)
	}
}

// wake lets a registration look again. The caller holds p.mu.
func (p *sharedProcessor) wake(r *registration) {
	if r.asleep {
		r.asleep = false
		p.asleep.Add(-1)
		r.wake <- struct{}{} // has room: it is filled only for a sleeper
	}
}

// rest puts a registration to sleep, unless there is something to do for it.
// Once all of them sleep everything published has been read by all, and the
// log need not hold on to it.
func (p *sharedProcessor) rest(r *registration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	if r.ended.Load() {
		return false // it is not registered any more
	}
	// Asleep first, idle second: who publishes in between sees a sleeper.
	r.asleep = true
	asleep := p.asleep.Add(1)
	if !r.idle() {
		r.asleep = false
		p.asleep.Add(-1)
		return false
	}
	if int(asleep) == len(p.registrations) {
		p.forget(r)
	}
	p.rested(r)
	r.giveBack()
	return true
}

// forget zeroes what every registration has read, which is where r stands if all
// stand there. The caller holds p.mu.
func (p *sharedProcessor) forget(r *registration) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if !p.level(r.position.Load()) {
		return
	}
	r.cursor.segment.clear(r.cursor.i)
}

// level tells whether every registration stands at a position of the log. One
// that sleeps may stand before it: it is about to be woken. The caller holds
// p.mu.
func (p *sharedProcessor) level(position uint64) bool {
	for _, r := range p.registrations {
		if r.position.Load() != position {
			return false
		}
	}
	return position != noPosition
}

// rise takes a registration out of its sleep for a reason of its own.
func (p *sharedProcessor) rise(r *registration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if r.asleep {
		r.asleep = false
		p.asleep.Add(-1)
		return
	}
	select { // it may have been woken at the same time
	case <-r.wake:
	default:
	}
}

// relieve merges for the handlers with Latest delivery that lag too far, so
// that they pin neither the log nor more than one event an object.
func (p *sharedProcessor) relieve() {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.latest == 0 {
		return
	}
	for _, r := range p.registrations {
		if r.options.Delivery == Latest {
			r.foldLag(p.log.end.Load())
		}
	}
}

func (p *sharedProcessor) add(r *registration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.registrations = append(p.registrations, r)
	p.count.Add(1)
	if r.options.Delivery == Latest {
		p.latest++
	}
}

// remove drops a registration, whose goroutine may still be in a call of the
// handler; a second time it does nothing.
func (p *sharedProcessor) remove(r *registration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	i := slices.Index(p.registrations, r)
	if i < 0 {
		return
	}
	r.letGo() // first: without handlers the publisher clears what it has read
	p.registrations = slices.Delete(p.registrations, i, i+1)
	delete(p.resting, r)
	p.count.Add(-1)
	if r.options.Delivery == Latest {
		p.latest--
	}
	if r.asleep {
		r.asleep = false
		p.asleep.Add(-1)
	}
}

// room returns room for taken events.
func (p *sharedProcessor) room() *taken {
	if t, ok := p.spare.Get().(*taken); ok {
		return t
	}
	return new(taken)
}

// all returns the registrations of now.
func (p *sharedProcessor) all() []*registration {
	p.mu.Lock()
	defer p.mu.Unlock()

	return slices.Clone(p.registrations)
}
