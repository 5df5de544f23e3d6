package delivery

// parking lets a registration's goroutine sleep while there are no events to deliver. SharedProcessor.mu
// guards its state.
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

// park lets a registration's goroutine sleep, unless there are events to deliver. When all registrations
// sleep, all of them have read everything that was published, and the objects of the log can be released.
func (p *SharedProcessor) park(r *Registration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	if closed(r.stopCalled) {
		return false
	}
	// Parked first, ready second: a concurrent publish is then either seen by ready, or finds a sleeping
	// registration and wakes it.
	r.parking.state = parked
	asleep := p.asleep.Add(1)
	r.markHandlerSynced()
	r.Progress.Wake()
	if r.ready() {
		p.markAwake(r)
		return false
	}
	if int(asleep) == len(p.registrations) {
		p.clearRead()
	}
	r.returnBatch()
	return true
}

// delivers reports whether a registration's goroutine delivers a burst, or is about to begin or end one. The
// caller holds SharedProcessor.mu.
func (r *Registration) delivers() bool {
	return r.life == delivering && r.parking.state != parked && r.taken.Load() != nil
}

// markAwake marks a registration awake. The caller holds mu.
func (p *SharedProcessor) markAwake(r *Registration) {
	if r.parking.state == parked {
		p.asleep.Add(-1)
	}
	r.parking.state = awake
}

// wakeAll wakes all sleeping registrations.
func (p *SharedProcessor) wakeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, r := range p.registrations {
		p.wake(r)
	}
}

// wake makes a sleeping registration check its feed again. The caller holds mu.
func (p *SharedProcessor) wake(r *Registration) {
	if r.parking.state == parked {
		p.markAwake(r)
		r.parking.state = woken
		r.parking.token <- struct{}{} // never blocks: only woken holds a token
	}
}

// unpark ends a registration's sleep for another reason than a publish. If a publish woke it at the same
// time, unpark drops the token.
func (p *SharedProcessor) unpark(r *Registration) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if r.parking.state == woken {
		<-r.parking.token
	}
	p.markAwake(r)
}

// clearRead releases the objects of the log if every registration has read them or reads nothing more. If a
// sleeping registration is behind the end, it is about to be woken, and clearRead does nothing. The caller
// holds mu.
func (p *SharedProcessor) clearRead() {
	end := p.log.End()
	for _, r := range p.registrations {
		if !r.feed.caughtUp(end) {
			return
		}
	}
	p.log.Clear(end)
}
