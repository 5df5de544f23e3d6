package share

// checks looks for shared values that a program has changed. It exists only
// where that is asked for, since it reads what was handed out.
type checks struct{}

func (c *checks) shared(hash uint64) {}
func (c *checks) kept(e *entry)      {}
