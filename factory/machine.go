package factory

// state is the state of an informer in a factory. It moves forward only, since an informer runs once:
//
//	made     begins with a Start or a lease                         -> running
//	running  its context ends, or it stops by itself                -> stopped
//
// An informer in the table is requested, or leased, or both:
//
//	           requested                            only leased
//	made       the next Start begins it, and        begins with a lease or a Start, under the latest
//	           a lease, as on the right             context given to Start that lives
//	running    ends with the context of its Start   ends with that context as well, with the last
//	                                                release, or with Shutdown
//	stopped    stays in the table. A new one takes  a new one takes its place with the next lease
//	           its place with the next lease, or    or request
//	           the first request after another Start
//
// An only leased informer leaves the table with the last release.
type state uint8

const (
	made    state = iota // has never run
	running              // runs
	stopped              // has stopped, will stop soon because its context has ended, or could not begin
)

// use says who uses an informer.
type use struct {
	requested bool // For, InformerFor or an accessor has returned it
	outlived  bool // Start was called after it had stopped, with a context that lived
	users     int  // number of leases on it
}

// replacedByRequest reports whether a request makes a new informer in place of this one.
func (u use) replacedByRequest(s state) bool { return s == stopped && (u.outlived || !u.requested) }

// replacedByLease is replacedByRequest for Acquire.
func (use) replacedByLease(s state) bool { return s == stopped }

// beginsWithStart reports whether Start begins the informer. A requested informer begins even if the context has
// ended already, as client-go's do.
func (u use) beginsWithStart(s state, lives bool) bool { return s == made && (u.requested || lives) }

// beginsWithLease reports whether Acquire begins the informer. lives says whether a context given to Start lives.
func (use) beginsWithLease(s state, lives bool) bool { return s == made && lives }

// unused reports whether the informer stops, and leaves the table.
func (u use) unused() bool { return u.users == 0 && !u.requested }
