package reflector

import (
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// Event is an observable fact about a [Reflector], for [Options].Observe. This package defines all
// its types.
type Event interface{ reflectorEvent() }

// Operation is the kind of a request.
type Operation string

// The operations of a reflector.
const (
	OpList   Operation = "list"
	OpStream Operation = "watch-list"
	OpWatch  Operation = "watch"
)

// Cause is the reason for reading a full state.
type Cause string

// The causes of full states.
const (
	CauseStart   Cause = "start"   // the reflector has just started
	CauseExpired Cause = "expired" // the server no longer has the known version (410), or does not have it yet
	CauseHistory Cause = "history" // the server's history went back
	CauseSilence Cause = "silence" // a watch sent nothing after an outage
	CauseFailure Cause = "failure" // a watch, a stream or the sink failed
)

// ErrorClass is the kind of an error, from a small fixed set.
type ErrorClass string

// The classes of errors, see [ClassOf].
const (
	ErrorExpired      ErrorClass = "expired"      // 410, or a version the server does not have yet
	ErrorBusy         ErrorClass = "busy"         // 429
	ErrorForbidden    ErrorClass = "forbidden"    // 403
	ErrorUnauthorized ErrorClass = "unauthorized" // 401
	ErrorNotServed    ErrorClass = "not-served"   // 404, 405 or 406
	ErrorInvalid      ErrorClass = "invalid"      // 400, 414, 422 or 431
	ErrorServer       ErrorClass = "server"       // 5xx
	ErrorTimeout      ErrorClass = "timeout"      // nothing arrived in time
	ErrorConnection   ErrorClass = "connection"   // refused, reset, cut off
	ErrorDecode       ErrorClass = "decode"       // an answer that cannot be read
	ErrorOther        ErrorClass = "other"
)

type (
	// Asked reports a request for a full state or a watch. A full state ends with Listed, the
	// opening of a watch with WatchStarted, and a watch with WatchEnded. Failed ends any of them,
	// unless a BackedOff for the same page follows. The next Asked ends everything else, such as a
	// refused stream. Version is the requested version. Cause is the reason for a full state.
	Asked struct {
		Operation Operation
		Cause     Cause // empty for a watch
		Version   string
	}
	// Paged reports a page of a list, or about a second of a stream. Objects is the number of
	// objects since the start of the full state. Remaining is the server's count of the objects
	// that follow, or -1 if unknown. Bytes is the encoded size since then, without HTTP
	// compression, or 0 if the client decodes.
	Paged struct {
		Operation Operation
		Objects   int
		Remaining int64
		Bytes     int64
	}
	// Listed reports the commit of a full state to the sink.
	Listed struct {
		Operation Operation
		Cause     Cause
		Version   string
		Objects   int
		Took      time.Duration
	}
	// WatchStarted reports that the server has accepted a watch, or that a stream continues as a
	// watch after its initial state.
	WatchStarted struct{ Version string }
	// WatchEnded reports the end of a watch, with the number of its events and the last known
	// version. Reason is text for people.
	WatchEnded struct {
		Version string
		Events  int
		Took    time.Duration
		Reason  string
	}
	// Failed reports an error of a list, of a watch (including error events), or of the sink.
	// Attempt counts the failures since the last healthy period.
	Failed struct {
		Operation Operation
		Class     ErrorClass
		Err       error
		Attempt   int
	}
	// BackedOff reports a wait before the next request. If Page is true, the list continues: the
	// next request is for the same page.
	BackedOff struct {
		Attempt int
		Delay   time.Duration
		Page    bool
	}
	// StreamRefused reports that the source does not stream its initial state. The reflector uses
	// lists for the time Retry, or until a list or watch is answered with 404.
	StreamRefused struct {
		Reason string
		Class  ErrorClass
		Retry  time.Duration
	}
	// SelectorRefused reports that the server refuses requests with the selector of the share
	// ([Options].Share), but accepts them without. For the time Retry, requests have no selector,
	// and only the reflector drops foreign objects.
	SelectorRefused struct {
		Reason string
		Retry  time.Duration
	}
	// HistoryWentBack reports a consistent state that is older than the known state. The server has
	// another history, for instance because its etcd was restored from a snapshot. The reflector
	// lists and compares all objects again.
	HistoryWentBack struct{ From, To string }
	// NotServed reports the first 404 since the last full state. The reflector keeps listing the
	// resource, and the sink keeps its objects. Err wraps [ErrNotServed].
	NotServed struct{ Err error }
	// Served reports, after a NotServed, that the server has the resource again. Took is the time
	// in between. Listed follows.
	Served struct{ Took time.Duration }
	// HistoryUnknown reports, once, that full states have no version, as with some fakes. The
	// reflector then cannot notice changes between a list and its watch, or a restored server.
	HistoryUnknown struct{}
	// ClientDecoded reports, once, that the client decodes the answers for a sink that packs its
	// objects. Each object is then decoded, encoded and compared. With [Wire] in the client's
	// transport, the sink packs the server's bytes instead.
	ClientDecoded struct{}
	// Skipped reports an object or event that was left out because it is not of the requested kind.
	// Err has the object's name and both types. A thousand in a row fail the watch.
	Skipped struct{ Err error }
	// Undecodable reports an object that could not be decoded. The sink gets it as
	// [deltafifo.Poisoned], or as Deleted and Lost if it was deleted.
	Undecodable struct {
		Key indexer.Key
		Err error
	}
)

func (Asked) reflectorEvent()           {}
func (Paged) reflectorEvent()           {}
func (Listed) reflectorEvent()          {}
func (WatchStarted) reflectorEvent()    {}
func (WatchEnded) reflectorEvent()      {}
func (Failed) reflectorEvent()          {}
func (BackedOff) reflectorEvent()       {}
func (StreamRefused) reflectorEvent()   {}
func (SelectorRefused) reflectorEvent() {}
func (HistoryWentBack) reflectorEvent() {}
func (NotServed) reflectorEvent()       {}
func (Served) reflectorEvent()          {}
func (HistoryUnknown) reflectorEvent()  {}
func (ClientDecoded) reflectorEvent()   {}
func (Skipped) reflectorEvent()         {}
func (Undecodable) reflectorEvent()     {}
