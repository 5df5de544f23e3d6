package informertest

import "errors"

var (
	// ErrClosed is returned for each request to a [Server] after Close. [Server.Source] also wraps
	// syscall.ECONNREFUSED, the error that a client gets from a server that does not run.
	ErrClosed = errors.New("informertest: the server is closed")
	// errNotStarted is returned to clients made from [Server.ClientConfig] while the server does not listen.
	errNotStarted = errors.New("informertest: the server does not listen; call Start")
	// errInformer is returned by [Server.Settle] for a value that is not an informer of this module.
	errInformer = errors.New("informertest: not an informer of this module")
	// ErrKind is returned by [Server.Register] for an invalid kind, by [Server.Unregister] for a kind that is
	// not registered, and by the other methods for an object of a kind that is not registered.
	ErrKind = errors.New("informertest: the kind cannot be served")
)

// The model wraps these errors into the server's answers.
var (
	errStale = errors.New("the object has been modified; please apply your changes to the latest version and try again")
	errToken = errors.New("not a token of this server")
)
