package share

import "slices"

// A change names at most maxNames of the objects that share the value. Of values that the table
// has dropped, it keeps the last maxChanges changes.
const (
	maxNames   = 8
	maxChanges = 64
)

// A Change is a shared value into which a program has written.
type Change struct {
	Path    string   // of the field
	Objects []string // some of those that share the value, in the order in which they were decoded
}

// checks find the shared values that a program has changed. They are optional: they take time,
// and read values that programs use.
type checks struct {
	name    func() string // of the object that is being decoded; nil where it is not known
	dropped []Change      // values that were found changed when the table dropped them
}

// original is the state of a value when it enters the table.
type original struct {
	fingerprint uint64
	objects     []string
}

// DetectWrites makes the table look for changes of its values. The caller calls it before anything is
// decoded.
func (t *Table) DetectWrites() {
	if t != nil {
		t.checks = &checks{}
	}
}

// DetectsWrites reports whether the table looks for changes.
func (t *Table) DetectsWrites() bool { return t != nil && t.checks != nil }

// Name sets the name of the object that is decoded next. The table calls name while it is locked,
// and only if it looks for changes. The caller has not locked the table.
func (t *Table) Name(name func() string) {
	if !t.DetectsWrites() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()

	t.checks.name = name
}

// Changed returns the values that have changed since they entered the table. It reads them: a
// program that writes into one at the same time has a data race. Any goroutine that has not
// locked the table may call it.
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
	if e.original == nil || t.fingerprint(e.value) == e.original.fingerprint {
		return Change{}, false
	}
	return Change{Path: e.site.String(), Objects: slices.Clone(e.original.objects)}, true
}

// kept records the state of a new value.
func (c *checks) kept(t *Table, e *entry) {
	if c != nil {
		e.original = &original{fingerprint: t.fingerprint(e.value)}
		c.shared(e)
	}
}

// shared records that another object has got a value.
func (c *checks) shared(e *entry) {
	if c == nil || c.name == nil || e.original == nil || len(e.original.objects) == maxNames {
		return
	}
	if name := c.name(); !slices.Contains(e.original.objects, name) {
		e.original.objects = append(e.original.objects, name)
	}
}

// drop checks a value for the last time: it leaves the table, while objects still share it.
func (c *checks) drop(t *Table, e *entry) {
	if c == nil || len(c.dropped) == maxChanges {
		return
	}
	if change, changed := t.change(e); changed {
		c.dropped = append(c.dropped, change)
	}
}
