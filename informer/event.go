package informer

// Event is one observable fact about an informer, handed to [Options].Observe.
// It is one of the reflector's events, or one of those of this package:
// *[QuarantineError], *[SharedValueError], *[TransformStuckError], *[indexer.IndexError],
// [HandlerPanicked], [HandlerExited], [HandlerLagging]; or the error of a loop over
// [Informer.Changes] that could not begin.
type Event any

// HandlerPanicked reports that a handler panicked on a change, which it will
// not be told again.
type HandlerPanicked struct {
	Handler string
	Value   any
}

// HandlerExited reports that a handler ended its goroutine (runtime.Goexit, as
// t.FailNow of a test does) on a change, which it will not be told again. It is told
// the rest on another goroutine.
type HandlerExited struct{ Handler string }

// HandlerLagging reports that the backlog of a handler has grown above
// [HandlerOptions].MaxBacklog.
type HandlerLagging struct {
	Handler string
	Backlog int
}
