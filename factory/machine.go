package factory

// state is the state of an informer in a factory. entry.wanted says whether the informer should
// run; the table says what follows from that:
//
//	            asked, if wanted   left, if unwanted   it has stopped             stop      restart
//	created     running                                                           halted
//	running                        stopping            refused                    halting   stopping
//	stopping                                           running or, if unwanted,   halting   stopping
//	                                                   stopped
//	stopped     running                                                           halted    running or, if unwanted, stopped
//	refused     running                                                           halted    running or, if unwanted, stopped
//	halting                                            halted                     halting   stopping
//	halted                                                                        halted    running or, if unwanted, stopped
//
// A run that cannot begin leads to refused as well. A created, stopped or refused informer begins
// with the Start of its pin even if the context of that Start has ended already, as client-go's do.
// After Shutdown no run begins.
type state uint8

const (
	created  state = iota // has never run
	running               // runs
	stopping              // its context has ended; it is about to stop, and then runs again if it is wanted
	stopped               // has stopped; its objects are kept
	refused               // the user runs it, its configuration is wrong, or its run ended by itself, as by a function that ended its goroutine
	halting               // StopInformer was called; it is about to stop
	halted                // StopInformer was called, and it has stopped
)

// call is an event in the life of an informer.
type call uint8

const (
	asked        call = iota // somebody has requested or acquired it, or Start was called
	pinStarted               // the first Start after its pin
	left                     // a lease was released, a context given to Start has ended, or Shutdown was called
	runStopped               // its run has stopped
	runRefused               // its run could not begin
	stopAsked                // StopInformer was called
	restartAsked             // RestartInformer was called
)

// facts are the inputs of a transition, as they are after the call.
type facts struct {
	wanted   bool // it should run
	shutDown bool // the factory was shut down
}

// action is the table's operation after a transition.
type action uint8

const (
	doNothing action = iota
	doRun            // begin a run
	doCancel         // end the context of the run
)

// after returns the next state after a call, and the action to perform.
func (s state) after(c call, f facts) (state, action) {
	switch c {
	case stopAsked:
		return s.afterStop()
	case restartAsked:
		return s.afterRestart(f)
	case runStopped:
		return s.afterRun(f)
	case runRefused:
		return refused, doNothing
	}
	switch s {
	case created, stopped, refused:
		if c == pinStarted || c == asked && f.wanted && !f.shutDown {
			return running, doRun
		}
	case running:
		if !f.wanted {
			return stopping, doCancel
		}
	}
	return s, doNothing
}

// afterRun is after for the end of a run.
func (s state) afterRun(f facts) (state, action) {
	switch s {
	case running: // it stopped by itself
		return refused, doNothing
	case halting:
		return halted, doNothing
	}
	return stopped.beginIf(f)
}

// beginIf returns running for an informer that is wanted, and s for any other.
func (s state) beginIf(f facts) (state, action) {
	if f.wanted && !f.shutDown {
		return running, doRun
	}
	return s, doNothing
}

// afterStop is after for StopInformer.
func (s state) afterStop() (state, action) {
	switch s {
	case running:
		return halting, doCancel
	case stopping, halting:
		return halting, doNothing
	}
	return halted, doNothing
}

// afterRestart is after for RestartInformer. An informer that has never run needs no restart.
func (s state) afterRestart(f facts) (state, action) {
	switch s {
	case created:
		return created, doNothing
	case running:
		return stopping, doCancel
	case stopping, halting:
		return stopping, doNothing
	}
	return stopped.beginIf(f)
}

// inRun reports whether a run has begun and has not stopped.
func (s state) inRun() bool { return s == running || s == stopping || s == halting }
