package wire

import (
	"errors"
	"fmt"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// The errors of answers and of the calls that request them.
var (
	// ErrPanic means that a call of the source, or a decoder, panicked. The message has the value and the
	// stack.
	ErrPanic = errors.New("the source panicked")
	// ErrSourceExited means that a function of the source has ended its goroutine.
	ErrSourceExited = fmt.Errorf("a function of the source: %w", indexer.ErrExited)
	// ErrBadAnswer means that an answer is not what was requested.
	ErrBadAnswer = errors.New("the source returned an unexpected answer")
	// ErrUnexpected means that an object or event is not of the requested kind.
	ErrUnexpected = errors.New("unexpected object or event")
	// ErrTable means that the server sent tables instead of objects.
	ErrTable = errors.New("the server sent tables instead of objects")
	// errReplaced means that the client and the reflector got different bytes.
	errReplaced = fmt.Errorf("%w: a transport around Wire replaces bodies: call config.Wrap(reflector.Wire) last", ErrBadAnswer)
	// errNoKind means that an object has no kind. client-go's dynamic client also fails.
	errNoKind = errors.New("the object has no kind")
)
