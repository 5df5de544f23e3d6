package informer

// Lend returns a view of the informer for a borrower, such as a lease of a factory. The view owns the
// handlers added through it, or through its Shared. end stops them, and lets the view take no more.
func (i *Informer[T]) Lend() (lent *Informer[T], end func()) {
	by := &owner{}
	return view[T](i.shared.lend(by)), func() { i.core.end(by) }
}

// owner owns the registrations made through one view of an informer. Registrations point to their
// owner; the owner does not point to them, since it would keep stopped ones in memory.
type owner struct {
	ended bool // guarded by core.mu
}

// end stops all registrations of an owner. The owner takes no more of them.
func (c *core) end(by *owner) {
	c.mu.Lock()
	by.ended = true
	c.mu.Unlock()
	for _, r := range c.processor.All() {
		if r.Options.Owner == by {
			r.Stop()
		}
	}
}
