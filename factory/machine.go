package factory

// state is where an informer of a factory is in its life. Who wants it to run is
// told by facts: a pin, which is somebody who asked for it through an accessor, For or
// ForResource, and its users, who have leases on it.
//
//	            Start          pinned  acquired  released   its context ends    it has stopped     stop      restart
//	created     run, or lease          lease                                                       halted
//	running                                      stopping   stopping, ending    stopped, over      halting   restarting
//	stopping                                                                    lease, or stopped  halting   restarting
//	ending                                                                      lease, or over     halting   restarting
//	restarting                                                                  lease, or stopped  halting
//	stopped     run, or lease  lease   lease                                                       halted    lease
//	over        lease                  lease                                                       halted    lease
//	refused     lease                  lease                                                       halted    lease
//	halting                                                                     halted                       restarting
//	halted                                                                                                   lease, or stopped
//
// run is to begin a run for the pin, under the context of that Start; lease is one
// under all contexts that Start was given, and takes an informer that somebody wants
// and a context that has not ended. Both make it running or, where the informer does
// not run, refused. A pin keeps it running when the last lease is released. Once its
// context ends an informer is ending where it has a pin, whose one run this was, and
// stopping where it has none. An informer that was pinned while it was stopping or
// stopped is yet to run for that pin. Stop and restart are those of one informer: what was
// stopped so runs no more until it is restarted.
type state uint8

const (
	created    state = iota // it has never run
	running                 // it runs
	stopping                // its context has ended, and it is about to stop
	ending                  // the same, and the run was the one that its pin has a right to
	restarting              // the same, and it was told to run again
	stopped                 // it has stopped, and holds what it held
	over                    // the same after the run for its pin: only leases begin another one
	refused                 // it did not run when it was to: somebody runs it by hand, or it was misconfigured
	halting                 // its context has ended since it was told to stop
	halted                  // it was told to stop, and has stopped
)

// call is what happens to an informer.
type call uint8

const (
	startCalled call = iota
	pinAdded         // the first time that it is asked for
	leaseAcquired
	lastReleased
	contextEnded // that of its run; also where the factory has ended it
	runStopped
	runRefused
	stopAsked // of this informer alone
	restartAsked
)

// facts are what is known of an informer once a call was made.
type facts struct {
	pinned, used bool
	alive        bool // some context that Start was given has not ended, and the factory is not shut down
}

// action is what is to be done.
type action uint8

const (
	doNothing action = iota
	doRun            // run it under the context of the Start that was called
	doLease          // run it under all contexts that Start was given
	doCancel         // end the context of the run
)

// wanted tells whether an informer is to run, if it can.
func (f facts) wanted() bool { return (f.used || f.pinned) && f.alive }

// after returns the state after a call, and what is to be done.
func (s state) after(c call, f facts) (state, action) {
	switch c {
	case stopAsked:
		return s.afterStop()
	case restartAsked:
		return s.afterRestart(f)
	case runStopped:
		return s.afterRun(f)
	}
	switch s {
	case created, stopped:
		return s.beforeRun(c, f)
	case over, refused:
		if f.used && f.alive && (c == startCalled || c == leaseAcquired) {
			return running, doLease
		}
	case running:
		return s.inRun(c, f)
	}
	return s, doNothing
}

// beforeRun is after, of an informer that has not run for its pin.
func (s state) beforeRun(c call, f facts) (state, action) {
	switch {
	case c == startCalled && f.pinned:
		return running, doRun
	case !f.alive:
		return s, doNothing
	case c == startCalled && f.used, c == leaseAcquired, c == pinAdded && s == stopped:
		return running, doLease
	}
	return s, doNothing
}

// inRun is after, of an informer that runs.
func (s state) inRun(c call, f facts) (state, action) {
	switch {
	case c == runRefused:
		return refused, doNothing
	case c == contextEnded && f.pinned:
		return ending, doCancel
	case c == contextEnded, c == lastReleased && !f.pinned:
		return stopping, doCancel
	}
	return s, doNothing
}

// afterRun is after, of the end of a run.
func (s state) afterRun(f facts) (state, action) {
	switch {
	case s == running && f.pinned: // by itself
		return over, doNothing
	case s == running:
		return stopped, doNothing
	case s == halting:
		return halted, doNothing
	case (s == stopping || s == restarting) && f.wanted(), s == ending && f.used && f.alive:
		return running, doLease
	case s == ending:
		return over, doNothing
	case s == stopping, s == restarting:
		return stopped, doNothing
	}
	return s, doNothing
}

// afterStop is after, of an informer that is told to stop.
func (s state) afterStop() (state, action) {
	switch s {
	case running:
		return halting, doCancel
	case stopping, ending, restarting, halting:
		return halting, doNothing
	}
	return halted, doNothing
}

// afterRestart is after, of an informer that is told to run anew. One that has never run
// does so anyway.
func (s state) afterRestart(f facts) (state, action) {
	switch {
	case s == created:
		return s, doNothing
	case s == running:
		return restarting, doCancel
	case s.ends():
		return restarting, doNothing
	case f.wanted():
		return running, doLease
	case s == halted:
		return stopped, doNothing
	}
	return s, doNothing
}

// ends tells whether a run is coming to its end.
func (s state) ends() bool {
	return s == stopping || s == ending || s == restarting || s == halting
}

// again tells whether the end of a run may be followed by another one.
func (s state) again() bool { return s.ends() && s != halting }

// ran tells whether an informer runs, or has run, for its pin.
func (s state) ran() bool {
	return s == running || s == ending || s == restarting || s == over || s == refused
}
