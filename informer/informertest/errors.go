package informertest

import "errors"

var (
	// ErrClosed is returned for whatever is asked of a [Server] after Close.
	// A [Source] wraps it together with syscall.ECONNREFUSED, which is what a
	// client gets from a server that is gone.
	ErrClosed = errors.New("informertest: the server is closed")
	// ErrNotStarted is returned to clients made from [Server.ClientConfig]
	// while the server does not listen.
	ErrNotStarted = errors.New("informertest: the server does not listen; call Start")
	// ErrInformer is returned by [Server.Settle] for what is not an informer of
	// this module.
	ErrInformer = errors.New("informertest: not an informer that can tell what it has delivered")
	// ErrRecording is returned by [Replay] for what is not a recording.
	ErrRecording = errors.New("informertest: not a recording")
	// ErrRecorded is an error of the network that was recorded, when it is
	// played back.
	ErrRecorded = errors.New("informertest: recorded")
	// ErrKind is returned by [Server.Register] for a row that cannot be served, by [Server.Unregister] for one that is not,
	// and by the other methods for an object whose kind is not registered.
	ErrKind = errors.New("informertest: not a kind that can be served")
)

// What the model wraps into the answers of a server.
var (
	errStale = errors.New("the object has been modified; please apply your changes to the latest version and try again")
	errToken = errors.New("not a token of this server")
)
