package reflector

import "errors"

// The errors of [Reflector.Run].
var (
	// ErrNoSource says that the reflector was made without a source.
	ErrNoSource = errors.New("reflector: no source")
	// ErrNoSink says that the reflector was made without a sink.
	ErrNoSink = errors.New("reflector: no sink")
	// ErrBadOptions says that an option has a value that makes no sense.
	ErrBadOptions = errors.New("reflector: bad options")
	// ErrStarted says that Run was called before: a reflector runs once.
	ErrStarted = errors.New("reflector: started already")
)

// The errors that a [Failed] event wraps where the source did not return one
// of its own.
var (
	// ErrPanic says that a call of the source panicked. The message holds the
	// value and the stack.
	ErrPanic = errors.New("the source panicked")
	// ErrBadAnswer says that the source returned, without an error, something
	// that is no list or no watch.
	ErrBadAnswer = errors.New("the source returned something else than it was asked for")
	// ErrTable says that the server sent tables instead of objects.
	ErrTable = errors.New("tables cannot be reflected")
	// ErrShortWatch says that a watch was closed within a second, without
	// having brought anything.
	ErrShortWatch = errors.New("the watch was closed at once and brought nothing")
	// ErrNotServed says that the server does not know the resource, as that of a
	// CustomResourceDefinition which is not there. It wraps the server's 404.
	ErrNotServed = errors.New("the server does not serve the resource")
	// ErrEndless says that a list shows no sign of an end: its continue tokens
	// go round in a circle, its pages stay empty, or it brought more objects
	// than a cluster has room for.
	ErrEndless = errors.New("the list does not end")
	// ErrSilent says that a list was not answered, or that a stream or watch
	// brought nothing, for too long.
	ErrSilent = errors.New("the server fell silent")
	// ErrStreamEnded says that a stream was closed, or had lasted as long as it
	// was to, before its initial state was complete.
	ErrStreamEnded = errors.New("the stream ended before its initial state was complete")
	// ErrSink says that the sink refused something; it wraps the sink's error, or
	// [indexer.ErrGoexit] where a call of the sink ended its goroutine.
	ErrSink = errors.New("the sink failed")
)

// ErrUnexpected is wrapped by a [Skipped] event: an object, or an event, is
// not of the kind that was asked for.
var ErrUnexpected = errors.New("not what was asked for")

var (
	// errForeign says that an answer is encoded in a way, or is of a kind, that is
	// left to client-go.
	errForeign = errors.New("not to be decoded here")
	// errNoKind is what client-go's dynamic client makes of such an object, too.
	errNoKind = errors.New("the object has no kind")
)
