package informer

// parking is where a registration's goroutine sleeps while there is nothing to tell.
// Its state is guarded by sharedProcessor.mu.
//
//	awake --park, if nothing is ready--> parked --publish--> woken --park--> parked
//	parked, woken --unpark (a tick, Stop, the end of the run)--> awake
type parking struct {
	state parkState
	token chan struct{} // holds one in woken, until the goroutine takes it
}

type parkState uint8

const (
	awake parkState = iota
	parked
	woken
)

// park lets a registration sleep, unless there is something to tell. Once all of
// them sleep everything published has been read by all, and the log need not hold on
// to it.
func (p *sharedProcessor) park(r *registration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	if r.life != delivering {
		return false
	}
	// Parked first, ready second: a concurrent publish is then either seen by ready
	// or finds a sleeper and wakes it.
	r.parking.state = parked
	asleep := p.asleep.Add(1)
	r.checkSynced()
	r.waiters.wake(r.feed)
	if r.ready() {
		p.leave(r)
		return false
	}
	r.lagging = false
	if int(asleep) == len(p.registrations) {
		p.clearRead()
	}
	r.returnBatch()
	return true
}

// telling tells whether a registration's goroutine is in a burst, or about to begin or end
// one. The caller holds sharedProcessor.mu.
func (r *registration) telling() bool {
	return r.life == delivering && r.parking.state != parked && r.taken.Load() != nil
}

// leave takes a registration off the sleepers. The caller holds mu.
func (p *sharedProcessor) leave(r *registration) {
	if r.parking.state == parked {
		p.asleep.Add(-1)
	}
	r.parking.state = awake
}

// wakeAll wakes all that sleep.
func (p *sharedProcessor) wakeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, r := range p.registrations {
		p.wake(r)
	}
}

// wake lets a registration look again. The caller holds mu.
func (p *sharedProcessor) wake(r *registration) {
	if r.parking.state == parked {
		p.leave(r)
		r.parking.state = woken
		r.parking.token <- struct{}{} // has room: it holds one in woken only
	}
}

// unpark ends the sleep of a registration for a reason of its own. One that was woken
// at the same time has a token that is of no use any more.
func (p *sharedProcessor) unpark(r *registration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if r.parking.state == woken {
		<-r.parking.token
	}
	p.leave(r)
}

// clearRead lets go of the objects that every registration has read. One that sleeps
// may stand before the others: it is about to be woken. The caller holds mu.
func (p *sharedProcessor) clearRead() {
	end := p.log.End()
	for i, r := range p.registrations {
		at, ok := r.feed.caughtUp(end)
		switch {
		case !ok:
			return
		case i == len(p.registrations)-1:
			at.Clear()
		}
	}
}
