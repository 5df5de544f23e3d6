package informer

// owner owns the registrations made through one view of an informer. Registrations point to their
// owner, not the owner to them, so that nothing keeps a stopped one.
type owner struct {
	ended bool // guarded by core.mu
}

// end stops all registrations of an owner. The owner takes no more of them.
func (c *core) end(by *owner) {
	c.mu.Lock()
	by.ended = true
	c.mu.Unlock()
	for _, r := range c.processor.all() {
		if r.owner == by {
			r.Stop()
		}
	}
}
