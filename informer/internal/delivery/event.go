package delivery

// Event is a fact about a handler: [Panicked], [Exited] or [Lagging].
type Event interface{ event() }

// Panicked reports that a handler panicked on an event, which is not delivered again.
type Panicked struct {
	Handler string
	Value   any
}

// Exited reports that a handler ended its goroutine, which has ended its registration.
type Exited struct{ Handler string }

// Lagging reports that a handler's backlog has grown above its bound.
type Lagging struct {
	Handler string
	Backlog int
}

func (Panicked) event() {}
func (Exited) event()   {}
func (Lagging) event()  {}
