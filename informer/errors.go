package informer

import "github.com/tidemark-k8s/tidemark/informer/internal/engine"

// The errors of this package. Test for them with errors.Is.
var (
	// ErrNoSource is returned if an informer was made without a source, or without a client.
	ErrNoSource = engine.ErrNoSource
	// ErrNoHandler is returned for a nil handler, and for one that is a nil function or has none.
	ErrNoHandler = engine.ErrNoHandler
	// ErrNegative is returned for an option out of range: a negative period or bound, an empty batch, an
	// unknown [Delivery]. The error names the option and its value.
	ErrNegative = engine.ErrNegative
	// ErrRunning is returned by a second Run, and by methods that must be called before Run.
	ErrRunning = engine.ErrRunning
	// ErrStopped is returned by methods that need an informer that has not stopped.
	ErrStopped = engine.ErrStopped
	// ErrNotSynced is returned by waits whose context ends before the store is complete. The error also
	// wraps the context's cause and the last error of a source.
	ErrNotSynced = engine.ErrNotSynced
	// ErrVersion is returned by waits for a resourceVersion that cannot be compared with the store's:
	// it is no positive number, or the server's history has gone back.
	ErrVersion = engine.ErrVersion
	// ErrTransform is reported, wrapped in a [QuarantineError], if the transform failed on an
	// object.
	ErrTransform = engine.ErrTransform
	// ErrQuarantined is returned by WaitFor for an object that is quarantined: the store does not
	// hold it. Observe got the [QuarantineError] with the reason.
	ErrQuarantined = engine.ErrQuarantined
	// ErrDecode is reported, wrapped in a [QuarantineError], if an object could not be decoded.
	ErrDecode = engine.ErrDecode
	// ErrExited is returned by Run and by waits if a function, a handler for instance, has ended a goroutine of the
	// run (runtime.Goexit, as t.FailNow of a test does).
	ErrExited = engine.ErrExited
	// ErrSharded is returned by Run if an informer cannot read a share: it has several sources, or its source is
	// limited to one namespace and the share is one of namespaces.
	ErrSharded = engine.ErrSharded
	// ErrType is returned for an object that is not of the informer's type.
	ErrType = engine.ErrType
)
