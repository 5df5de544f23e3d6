package factory

// state is the state of an informer in a factory. It only moves forward, because an informer runs once:
//
//	made     a Start or a lease starts it                           -> running
//	running  its context ends, or it stops by itself                -> stopped
//
// An informer in the table is requested, or leased, or both:
//
//	           requested                            only leased
//	made       the next Start starts it, and so     a lease or a Start starts it, under the latest
//	           does a lease, as on the right        context given to Start that has not ended
//	running    ends with the context of its Start   also ends with that context, with the last
//	                                                release, or with Shutdown
//	stopped    stays in the table. The next lease,  the next lease or request replaces it
//	           or the first request after another
//	           Start, replaces it
//
// An informer that is only leased leaves the table with the last release.
type state uint8

const (
	made    state = iota // has never run
	running              // runs
	stopped              // has stopped, will stop soon because its context has ended, or could not start
)

// use says who uses an informer.
type use struct {
	requested bool // For, InformerFor or an accessor has returned it
	outlived  bool // Start was called after it had stopped, with a context that had not ended
	users     int  // the number of leases on it
}

// replacedByRequest reports whether a request replaces this informer with a new one.
func (u use) replacedByRequest(s state) bool { return s == stopped && (u.outlived || !u.requested) }

// replacedByLease is replacedByRequest for Acquire.
func (use) replacedByLease(s state) bool { return s == stopped }

// beginsWithStart reports whether Start starts the informer. lives reports whether the context has not ended.
// A requested informer starts even if the context has ended, as in client-go.
func (u use) beginsWithStart(s state, lives bool) bool { return s == made && (u.requested || lives) }

// beginsWithLease reports whether Acquire starts the informer. lives reports whether a context given to Start
// has not ended.
func (use) beginsWithLease(s state, lives bool) bool { return s == made && lives }

// unused reports whether the informer stops, and leaves the table.
func (u use) unused() bool { return u.users == 0 && !u.requested }
