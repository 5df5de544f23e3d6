package informertest

import "errors"

var (
	// ErrClosed is returned for each request to a [Server] after Close. A [Server.Source] wraps it
	// together with syscall.ECONNREFUSED, the error of a client whose server is gone.
	ErrClosed = errors.New("informertest: the server is closed")
	// errNotStarted is returned to clients made from [Server.ClientConfig]
	// while the server does not listen.
	errNotStarted = errors.New("informertest: the server does not listen; call Start")
	// errInformer is returned by [Server.Settle] for a value other than an informer of this module.
	errInformer = errors.New("informertest: not an informer that can tell what it has delivered")
	// ErrKind is returned by [Server.Register] for an invalid kind, by [Server.Unregister] for an
	// unregistered one, and by the other methods for an object of an unregistered kind.
	ErrKind = errors.New("informertest: not a kind that can be served")
)

// Errors that the model wraps into the server's answers.
var (
	errStale = errors.New("the object has been modified; please apply your changes to the latest version and try again")
	errToken = errors.New("not a token of this server")
)
