package engine

import (
	"fmt"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/delivery"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

// Receiver calls the handler of a registration, of either API.
type Receiver interface {
	delivery.Receiver
	// Needs reports which objects of an event the handler takes. The others are not decoded.
	Needs(h eventlog.Header) (old, now bool)
	// Name returns the handler's type with its package, or the place of its functions in the source code.
	Name() string
}

// HandlerOptions configure one handler. With Merge, all pending changes of an object are merged.
type HandlerOptions struct {
	Name   string
	Merge  bool
	Resync time.Duration
}

// Handle registers the handler behind a receiver. Options that are not set default to the handler's name and
// the informer's resync period.
func (c *Core) Handle(to Receiver, o HandlerOptions, by *Owner) (*delivery.Registration, error) {
	if o.Name == "" {
		o.Name = to.Name()
	}
	if o.Resync == 0 {
		o.Resync = c.options.Resync
	}
	return c.Register(to, o, by)
}

// Register registers a handler with exactly these options.
func (c *Core) Register(to Receiver, o HandlerOptions, by *Owner) (*delivery.Registration, error) {
	r := c.NewRegistration(to, o, by)
	if err := c.addHandler(r); err != nil {
		return nil, err
	}
	return r, nil
}

// NewRegistration returns the registration of a handler, without adding it.
func (c *Core) NewRegistration(to Receiver, o HandlerOptions, by *Owner) *delivery.Registration {
	return c.processor.NewRegistration(c.withDecoding(to), delivery.Options{Name: o.Name, Merge: o.Merge, Resync: o.Resync, Owner: by})
}

// addHandler registers a handler.
func (c *Core) addHandler(r *delivery.Registration) (err error) {
	// The store is locked before mu: an index function may block the store, but must not block other
	// callers that lock mu.
	c.writer.Freeze(func(tx *indexer.Tx) {
		c.mu.Lock()
		defer c.mu.Unlock()

		if err = c.checkHandler(r); err == nil {
			c.processor.Add(tx, r)
		}
	})
	return err
}

// checkHandler returns an error if a handler cannot be added now. The caller holds mu.
func (c *Core) checkHandler(r *delivery.Registration) error {
	by, _ := r.Options.Owner.(*Owner)
	switch {
	case c.misuse != nil:
		return c.Misused()
	case by != nil && by.ended:
		return fmt.Errorf("informer %s: %w: handler %q was added through a view that has ended", c.options.Name, ErrStopped, r.Name())
	case c.phase == stopped:
		// The text is client-go's: programs look for it.
		return fmt.Errorf("informer %s: %w: handler %q was not added to shared informer because it has stopped already", c.options.Name, ErrStopped, r.Name())
	}
	return nil
}

// Owner owns the registrations made through one view of an informer. Registrations point to their owner, not
// the other way around, because an owner would keep stopped ones in memory.
type Owner struct {
	ended bool // guarded by Core.mu
}

// End stops all registrations of an owner, which accepts no more.
func (c *Core) End(by *Owner) {
	c.mu.Lock()
	by.ended = true
	c.mu.Unlock()
	for _, r := range c.processor.All() {
		if r.Options.Owner == by {
			r.Stop()
		}
	}
}
