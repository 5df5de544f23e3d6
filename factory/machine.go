package factory

// state is the state of an informer in a factory. Two facts say whether the informer should run:
// its pin (somebody requested it through an accessor, For or ForResource), and its users, which
// hold leases on it.
//
//	            Start          pinned  acquired  released   its context ends    it has stopped     stop      restart
//	created     run, or all            all                                                         halted
//	running                                      stopping   stopping, ending    stopped, over      halting   restarting
//	stopping                                                                    all, or stopped    halting   restarting
//	ending                                                                      all, or over       halting   restarting
//	restarting                                                                  all, or stopped    halting
//	stopped     run, or all    all     all                                                         halted    all
//	over        all                    all                                                         halted    all
//	refused     all                    all                                                         halted    all
//	halting                                                                     halted                       restarting
//	halted                                                                                                   all, or stopped
//
// "run" begins a run for the pin, under the context of that Start. "all" begins a run under all
// contexts given to Start; it needs a pin or a user, and a context that has not ended. Both lead
// to running, or to refused if the informer does not run.
//
// A pin keeps the informer running when the last lease is released. When the context of a run
// ends, an informer with a pin is ending, since this was the one run for its pin; an informer
// without a pin is stopping. An informer pinned while stopping or stopped still has the run for
// its pin ahead. StopInformer and RestartInformer ("stop", "restart") act on a single informer:
// after a stop it does not run until it is restarted.
type state uint8

const (
	created    state = iota // has never run
	running                 // runs
	stopping                // its context has ended; it is about to stop
	ending                  // like stopping, and this was the run for its pin
	restarting              // like stopping, and it is to run again
	stopped                 // has stopped; its objects are kept
	over                    // like stopped, after the run for its pin: only a lease begins another run
	refused                 // could not be run: the user runs it, or its configuration is wrong
	halting                 // StopInformer was called; it is about to stop
	halted                  // StopInformer was called, and it has stopped
)

// call is an event in the life of an informer.
type call uint8

const (
	startCalled call = iota
	pinAdded         // the first request for it
	leaseAcquired
	lastReleased
	contextEnded // the context of its run; the factory may have ended it
	runStopped
	runRefused
	stopAsked // for this informer alone
	restartAsked
)

// facts are the inputs of a transition, as they are after the call.
type facts struct {
	pinned, used bool
	alive        bool // a context given to Start has not ended, and the factory is not shut down
}

// action is the table's operation after a transition.
type action uint8

const (
	doNothing     action = iota
	doRun                // run it under the context of this Start
	doRunUnderAll        // run it under all contexts given to Start
	doCancel             // end the context of the run
)

// shouldRun reports whether the informer should run, if it can.
func (f facts) shouldRun() bool { return (f.used || f.pinned) && f.alive }

// after returns the next state after a call, and the action to perform.
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
			return running, doRunUnderAll
		}
	case running:
		return s.inRun(c, f)
	}
	return s, doNothing
}

// beforeRun is after for an informer that has not had the run for its pin.
func (s state) beforeRun(c call, f facts) (state, action) {
	switch {
	case c == startCalled && f.pinned:
		return running, doRun
	case !f.alive:
		return s, doNothing
	case c == startCalled && f.used, c == leaseAcquired, c == pinAdded && s == stopped:
		return running, doRunUnderAll
	}
	return s, doNothing
}

// inRun is after for a running informer.
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

// afterRun is after for the end of a run.
func (s state) afterRun(f facts) (state, action) {
	switch {
	case s == running && f.pinned: // it stopped by itself
		return over, doNothing
	case s == running:
		return stopped, doNothing
	case s == halting:
		return halted, doNothing
	case (s == stopping || s == restarting) && f.shouldRun(), s == ending && f.used && f.alive:
		return running, doRunUnderAll
	case s == ending:
		return over, doNothing
	case s == stopping, s == restarting:
		return stopped, doNothing
	}
	return s, doNothing
}

// afterStop is after for StopInformer.
func (s state) afterStop() (state, action) {
	switch s {
	case running:
		return halting, doCancel
	case stopping, ending, restarting, halting:
		return halting, doNothing
	}
	return halted, doNothing
}

// afterRestart is after for RestartInformer. An informer that has never run needs no restart.
func (s state) afterRestart(f facts) (state, action) {
	switch {
	case s == created:
		return s, doNothing
	case s == running:
		return restarting, doCancel
	case s.ends():
		return restarting, doNothing
	case f.shouldRun():
		return running, doRunUnderAll
	case s == halted:
		return stopped, doNothing
	}
	return s, doNothing
}

// ends reports whether a run is about to stop.
func (s state) ends() bool {
	return s == stopping || s == ending || s == restarting || s == halting
}

// again reports whether another run may follow the one that is about to stop.
func (s state) again() bool { return s.ends() && s != halting }

// ran reports whether an informer runs for its pin, or has done so.
func (s state) ran() bool {
	return s == running || s == ending || s == restarting || s == over || s == refused
}
