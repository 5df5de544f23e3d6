package reflector

import (
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Event is one observable fact about a [Reflector], handed to
// [Options].Observe. The set is sealed: the types are those of this file.
type Event interface{ reflectorEvent() }

// Operation names the request that an event speaks of.
type Operation string

// The operations of a reflector.
const (
	OpList   Operation = "list"
	OpStream Operation = "watch-list"
	OpWatch  Operation = "watch"
)

// Cause says why a full state was read.
type Cause string

// The causes of full states.
const (
	CauseStart   Cause = "start"        // the reflector has just begun
	CauseExpired Cause = "expired"      // the server does not serve the known version any more (410), or not yet
	CauseHistory Cause = "history"      // the server's history went back, or it serves another version of the kind
	CauseSilence Cause = "silence"      // a watch brought nothing after an outage, or not what it had missed
	CauseFailure Cause = "failure"      // a watch, a stream or the sink failed
	CauseServed  Cause = "served-again" // the server serves the resource again
)

// ErrorClass says what kind of error a request met, in few words that never grow in number.
type ErrorClass string

// The classes of errors, as [ClassOf] tells them.
const (
	ErrorExpired      ErrorClass = "expired"      // 410, or a version that is not there yet
	ErrorBusy         ErrorClass = "busy"         // 429
	ErrorForbidden    ErrorClass = "forbidden"    // 403
	ErrorUnauthorized ErrorClass = "unauthorized" // 401
	ErrorNotServed    ErrorClass = "not-served"   // 404, 405 or 406
	ErrorInvalid      ErrorClass = "invalid"      // 400, 414, 422 or 431
	ErrorServer       ErrorClass = "server"       // 5xx
	ErrorTimeout      ErrorClass = "timeout"      // nothing came in time
	ErrorConnection   ErrorClass = "connection"   // refused, reset, cut off
	ErrorDecode       ErrorClass = "decode"       // an answer that cannot be read
	ErrorOther        ErrorClass = "other"
)

type (
	// Asked reports that a full state, or a watch, is asked for: the list or stream begins, or the
	// watch. Listed ends a full state, WatchStarted the opening of a watch and WatchEnded the
	// watch; Failed ends each of them too. Version is the one that is asked for, Cause why
	// a full state is.
	Asked struct {
		Operation Operation
		Cause     Cause // empty for a watch
		Version   string
	}
	// Committing reports that a full state has come whole, and is about to be committed to the
	// sink. Listed follows.
	Committing struct {
		Operation Operation
		Objects   int
	}
	// Paged reports one page of a list, or about a second's worth of a
	// stream. Objects counts from the start of the list; Remaining is how
	// many the server said are still to come, -1 where it did not say.
	// Bytes is how much has come, as the server encoded it (without the compression of
	// HTTP), 0 where the objects do not come through [Wire].
	Paged struct {
		Operation Operation
		Objects   int
		Remaining int64
		Bytes     int64
	}
	// Listed reports a full state that was committed to the sink.
	Listed struct {
		Operation Operation
		Cause     Cause
		Version   string
		Objects   int
		Took      time.Duration
	}
	// WatchStarted reports a watch that the server accepted, or a stream whose
	// initial state is complete and that goes on as a watch.
	WatchStarted struct{ Version string }
	// WatchEnded reports the end of a watch that was started, with the number
	// of events it brought and the last version known. Reason is for people.
	WatchEnded struct {
		Version string
		Events  int
		Took    time.Duration
		Reason  string
	}
	// Failed reports an error of a list or a watch, also one that came as an
	// event in the stream, and one of the sink. Attempt counts the failures
	// since the last healthy time.
	Failed struct {
		Operation Operation
		Class     ErrorClass
		Err       error
		Attempt   int
	}
	// BackedOff reports a wait before the next request.
	BackedOff struct {
		Attempt int
		Delay   time.Duration
	}
	// StreamRefused reports that the source does not stream its initial state:
	// lists are used until Retry has passed.
	StreamRefused struct {
		Reason string
		Retry  time.Duration
	}
	// HistoryWentBack reports a consistent state older than what was already
	// known: the server's history is another one than before (an etcd restored
	// from a snapshot). Everything is listed again and compared anew.
	HistoryWentBack struct{ From, To string }
	// NotServed reports that the server does not know the resource: it is waited for from now
	// on, and not asked for. Err wraps [ErrNotServed]. What is in the sink stays.
	NotServed struct{ Err error }
	// Served reports that the resource is there again after a NotServed, Took being the time
	// between. A Listed follows.
	Served struct{ Took time.Duration }
	// Withdrawn reports, after a NotServed, that the resource is known to have been taken away,
	// and that a full state without objects was committed to the sink.
	Withdrawn struct{}
	// HistoryUnknown reports, once, that full states come without a version, as
	// those of some fakes: what is lost between a list and its watch goes
	// unnoticed, and so does a server that was restored.
	HistoryUnknown struct{}
	// Skipped reports an object, or an event, that was left out since it is
	// not what was asked for; Err names the object and both types. A thousand
	// events in a row that are skipped end the watch, as a failure.
	Skipped struct{ Err error }
	// Undecodable reports an object that could not be decoded. The sink was
	// told of it as [deltafifo.Poisoned] or, if it is gone, as Deleted and Lost.
	Undecodable struct {
		Key indexer.Key
		Err error
	}
)

func (Asked) reflectorEvent()           {}
func (Committing) reflectorEvent()      {}
func (Paged) reflectorEvent()           {}
func (Listed) reflectorEvent()          {}
func (WatchStarted) reflectorEvent()    {}
func (WatchEnded) reflectorEvent()      {}
func (Failed) reflectorEvent()          {}
func (BackedOff) reflectorEvent()       {}
func (StreamRefused) reflectorEvent()   {}
func (HistoryWentBack) reflectorEvent() {}
func (NotServed) reflectorEvent()       {}
func (Served) reflectorEvent()          {}
func (Withdrawn) reflectorEvent()       {}
func (HistoryUnknown) reflectorEvent()  {}
func (Skipped) reflectorEvent()         {}
func (Undecodable) reflectorEvent()     {}
