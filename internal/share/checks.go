package share

import "slices"

// maxNames is how many of the objects that share a value are named, and
// maxChanges how many changes are remembered of values that the table dropped.
const (
	maxNames   = 8
	maxChanges = 64
)

// A Change is a shared value into which a program has written.
type Change struct {
	Path    string   // of the field
	Objects []string // some of those that share the value, in the order in which they were decoded
}

// checks look for shared values that a program has changed. They exist only
// where that is asked for, since they read what was handed out, and take time.
type checks struct {
	name    func() string // of the object that is being decoded; nil where it is not known
	dropped []Change      // values that were found changed when the table dropped them
}

// watched is what is known of a value when it comes into the table.
type watched struct {
	fingerprint uint64
	objects     []string
}

// Watch makes the table look for changes of the values that come into it. It is
// called before anything is decoded.
func (t *Table) Watch() {
	if t != nil {
		t.checks = &checks{}
	}
}

// Watched tells whether the table looks for changes.
func (t *Table) Watched() bool { return t != nil && t.checks != nil }

// Name tells of which object the values are that the table is asked for next.
// Name is called while the table is held, and only where changes are looked for.
// The caller does not hold the table.
func (t *Table) Name(name func() string) {
	if !t.Watched() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()

	t.checks.name = name
}

// Changed returns the values that are not what they were when they came into
// the table. It reads them: where a program writes into one at the same time,
// this is a data race of that program's. It may be called from any goroutine
// that does not hold the table.
func (t *Table) Changed() []Change {
	if t == nil || t.checks == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()

	changes := slices.Clone(t.checks.dropped)
	for i := range t.slots {
		if c, changed := t.change(&t.slots[i]); changed {
			changes = append(changes, c)
		}
	}
	return changes
}

func (t *Table) change(e *entry) (Change, bool) {
	if e.watched == nil || t.fingerprint(e.value) == e.watched.fingerprint {
		return Change{}, false
	}
	return Change{Path: e.site.String(), Objects: slices.Clone(e.watched.objects)}, true
}

// kept notes what a value is that has come into the table.
func (c *checks) kept(t *Table, e *entry) {
	if c != nil {
		e.watched = &watched{fingerprint: t.fingerprint(e.value)}
		c.shared(e)
	}
}

// shared notes that another object has a value.
func (c *checks) shared(e *entry) {
	if c == nil || c.name == nil || e.watched == nil || len(e.watched.objects) == maxNames {
		return
	}
	if name := c.name(); !slices.Contains(e.watched.objects, name) {
		e.watched.objects = append(e.watched.objects, name)
	}
}

// drop looks at a value for the last time: it leaves the table, while objects
// still share it.
func (c *checks) drop(t *Table, e *entry) {
	if c == nil || len(c.dropped) == maxChanges {
		return
	}
	if change, changed := t.change(e); changed {
		c.dropped = append(c.dropped, change)
	}
}
