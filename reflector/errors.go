package reflector

import (
	"errors"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// The errors of [Reflector.Run]. It also returns [indexer.ErrExited].
var (
	// ErrNoSource means that the reflector has no source.
	ErrNoSource = errors.New("reflector: no source")
	// ErrNoSink means that the reflector has no sink.
	ErrNoSink = errors.New("reflector: no sink")
	// ErrBadOptions means that an option has an invalid value.
	ErrBadOptions = errors.New("reflector: bad options")
	// ErrStarted means that Run was called before. A reflector runs once.
	ErrStarted = errors.New("reflector: started already")
)

// The errors that a [Failed] event wraps if the source itself returned no error.
var (
	// ErrPanic means that a call of the source panicked. The message has the value and the stack.
	ErrPanic = wire.ErrPanic
	// ErrBadAnswer means that the source returned neither an error nor the list or watch it was
	// asked for.
	ErrBadAnswer = wire.ErrBadAnswer
	// ErrNotServed means that the server does not have the resource, for instance because its
	// CustomResourceDefinition is missing. It wraps the server's 404.
	ErrNotServed = errors.New("the server does not serve the resource")
	// ErrEndless means that a list does not seem to end: its continue tokens repeat, its pages stay
	// empty, or it has more objects than fit into a cluster.
	ErrEndless = errors.New("the list does not end")
	// ErrSilent means that a list got no answer, or that a stream or watch sent nothing, for too
	// long.
	ErrSilent = errors.New("the server fell silent")
)

// ErrUnexpected means that an object or event is not of the requested kind. The error of a
// [Skipped] event wraps it.
var ErrUnexpected = wire.ErrUnexpected

var (
	// errShortWatch means that a watch ended within a second without an event.
	errShortWatch = errors.New("the watch was closed at once, without events")
	// errStreamEnded means that a stream ended, or took too long, before its initial state was
	// complete.
	errStreamEnded = errors.New("the stream ended before its initial state was complete")
	// errNoBookmark means that a stream sent changes, but not the bookmark that ends its initial
	// state.
	errNoBookmark = errors.New("the stream sent changes, but not the bookmark that ends its initial state")
	// errSink means that the sink failed. It wraps the sink's error.
	errSink = errors.New("the sink failed")
)
