package informer

// owner owns the registrations that were made through one view of an informer. They are
// marked with it, so that one that its user has stopped is kept by nobody.
type owner struct {
	ended bool // guarded by core.mu
}

// end stops all registrations of an owner, which gets no more of them.
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
