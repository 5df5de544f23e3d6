package reflector

import (
	"errors"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// The errors of [Reflector.Run], beside [indexer.ErrExited].
var (
	// ErrNoSource means that the reflector has no source.
	ErrNoSource = errors.New("reflector: no source")
	// ErrNoSink means that the reflector has no sink.
	ErrNoSink = errors.New("reflector: no sink")
	// ErrBadOptions means that an option has an invalid value.
	ErrBadOptions = errors.New("reflector: bad options")
	// ErrStarted means that Run was called before: a reflector runs once.
	ErrStarted = errors.New("reflector: started already")
)

// The errors that a [Failed] event wraps if the source did not return an error itself.
var (
	// ErrPanic means that a call of the source panicked. The message holds the value and the
	// stack.
	ErrPanic = errors.New("the source panicked")
	// ErrBadAnswer means that the source returned neither an error nor the list or watch it was
	// asked for.
	ErrBadAnswer = errors.New("the source returned something else than it was asked for")
	// ErrNotServed means that the server does not know the resource, for instance because its
	// CustomResourceDefinition is missing. It wraps the server's 404. If the server has the resource
	// in other versions, the text names them.
	ErrNotServed = errors.New("the server does not serve the resource")
	// ErrEndless means that a list shows no end: its continue tokens repeat, its pages stay empty,
	// or it has more objects than a cluster has room for.
	ErrEndless = errors.New("the list does not end")
	// ErrSilent means that a list was not answered, or that a stream or watch brought nothing, for
	// too long.
	ErrSilent = errors.New("the server fell silent")
)

// ErrNotExact is returned by [ListAt] for a source that does not list at exactly a version.
var ErrNotExact = errors.New("the source does not list at a version")

// ErrUnexpected is wrapped by a [Skipped] event: an object or event is not of the requested kind.
var ErrUnexpected = errors.New("not what was asked for")

var (
	// errTable means that the server sent tables instead of objects.
	errTable = errors.New("tables cannot be reflected")
	// errShortWatch means that a watch was closed within a second, without an event.
	errShortWatch = errors.New("the watch was closed at once and brought nothing")
	// errStreamEnded means that a stream was closed, or exceeded its time, before its initial state
	// was complete.
	errStreamEnded = errors.New("the stream ended before its initial state was complete")
	// errSink means that the sink failed. It wraps the sink's error.
	errSink = errors.New("the sink failed")
	// errHTML means that a proxy has sent a page, as to log in, in place of an answer.
	errHTML = fmt.Errorf("%w: a page of HTML (text/html): is there a proxy that asks to log in?", ErrBadAnswer)
	// errForeign means that client-go has to decode an answer, because of its encoding or kind.
	errForeign = errors.New("not to be decoded here")
	// errReplaced means that the client has got other bytes than the reflector.
	errReplaced = fmt.Errorf("%w: a transport around Wire replaces bodies: call config.Wrap(reflector.Wire) last", ErrBadAnswer)
	// errSourceExited means that a function of the source has ended its goroutine.
	errSourceExited = fmt.Errorf("a function of the source: %w", indexer.ErrExited)
	// errNoKind means that an object has no kind; client-go's dynamic client fails, too.
	errNoKind = errors.New("the object has no kind")
)
