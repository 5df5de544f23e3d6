package informer

// Registration is one handler's place in an informer. While the informer runs, a goroutine of its
// own delivers the initial state and then each change. Its methods may be called from anywhere,
// from within the handler too.
type Registration interface {
	// Name returns the name under which the handler was registered.
	Name() string
	// Synced returns a channel that is closed once the handler has been told
	// the whole initial state (client-go's
	// ResourceEventHandlerRegistration.HasSynced). It stays open if the informer
	// or the registration stops before.
	Synced() <-chan struct{}
	// Backlog returns the number of undelivered events. With [Latest] it counts one for each object
	// with merged changes, and each event not merged yet. Events in the handler's hands count, and
	// go down in steps of some events; the number is exact when the handler has none in hand. A
	// resync does not count.
	Backlog() int
	// Stop ends the registration, and drops its pending events. One call of the handler may still
	// be running when Stop returns; see Done. A second call does nothing.
	Stop()
	// Done returns a channel that is closed once nothing more will be delivered: the registration
	// or the informer was stopped, and the last call of the handler has returned.
	Done() <-chan struct{}
}
