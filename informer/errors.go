package informer

import "github.com/tidemark-k8s/tidemark/informer/internal/engine"

// The errors of this package. Test for them with errors.Is.
var (
	// ErrNoSource is returned if an informer has no source, or its source has no client.
	ErrNoSource = engine.ErrNoSource
	// ErrNoHandler is returned for a nil handler, a nil function, and a handler without functions.
	ErrNoHandler = engine.ErrNoHandler
	// ErrOutOfRange is returned for an option out of range: a negative period or bound, an empty batch, an
	// unknown [Delivery]. The error names the option and its value.
	ErrOutOfRange = engine.ErrOutOfRange
	// ErrRunning is returned by a second Run, and by methods that must be called before Run.
	ErrRunning = engine.ErrRunning
	// ErrStopped is returned by methods that need an informer that has not stopped.
	ErrStopped = engine.ErrStopped
	// ErrNotSynced is returned by waits whose context ends before the store is complete, and by
	// controllerruntime.View, which does not wait. A wait's error also wraps the cause of the context's end,
	// and a source's last error.
	ErrNotSynced = engine.ErrNotSynced
	// ErrVersion is returned by waits for a resourceVersion that cannot be compared with the store's: it is
	// not a positive number, or the server's history has gone back.
	ErrVersion = engine.ErrVersion
	// ErrTransform is reported, wrapped in a [QuarantineError], if the transform fails on an object.
	ErrTransform = engine.ErrTransform
	// ErrQuarantined is returned by WaitFor if the version that it waits for is quarantined. The
	// [QuarantineError] passed to Observe has the reason.
	ErrQuarantined = engine.ErrQuarantined
	// ErrDecode is reported, wrapped in a [QuarantineError], if an object could not be decoded.
	ErrDecode = engine.ErrDecode
	// ErrExited is returned by Run and by waits if a handler or another callback ended a goroutine of the run
	// (runtime.Goexit, as a test's t.FailNow does).
	ErrExited = engine.ErrExited
	// ErrSharded is returned by Run if an informer cannot read a share: the informer has several sources, or
	// the share is by namespace and the source reads one namespace.
	ErrSharded = engine.ErrSharded
	// ErrType is returned for an object that is not of the informer's type.
	ErrType = engine.ErrType
)
