package share

import "unsafe"

// Scale adds up the sizes of values. It counts each part once.
type Scale interface {
	Add(value any)
	Text(s string)
}

// weighedAtOnce is the number of slots that are weighed while the table is locked once.
const weighedAtOnce = 256

// Weigh adds the values and strings of the table to a scale, which may already have some of them from
// objects. It returns the size of everything else in the table. Weigh locks the table for some slots at
// a time, so the caller must not hold the lock.
func (t *Table) Weigh(scale Scale) (bytes int64) {
	if t == nil {
		return 0
	}
	var values []any
	for from, more := 0, true; more; from += weighedAtOnce {
		var keys int64
		values, keys, more = t.valuesFrom(from, values[:0])
		bytes += keys
		for _, v := range values {
			scale.Add(v)
		}
	}
	var strings []slot
	for from, more := 0, true; more; from += weighedAtOnce {
		strings, more = t.stringsFrom(from, strings[:0])
		for _, s := range strings {
			scale.Text(s.s)
			scale.Add(s.boxed)
		}
	}
	return bytes + t.bare()
}

// bare returns the size of the slots.
func (t *Table) bare() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()

	return int64(len(t.slots))*int64(unsafe.Sizeof(entry{})) +
		int64(len(t.strings.slots))*int64(unsafe.Sizeof(slot{})) +
		int64(len(t.seen.buckets))*int64(unsafe.Sizeof([bucket]uint32{}))
}

// valuesFrom appends the values of some slots. It returns the size of their keys, and whether there are
// more slots.
func (t *Table) valuesFrom(from int, values []any) (_ []any, keys int64, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()

	to := min(from+weighedAtOnce, len(t.slots))
	for i := from; i < to; i++ {
		if e := &t.slots[i]; e.value != nil {
			keys += int64(len(e.key))
			values = append(values, e.value)
		}
	}
	return values, keys, to < len(t.slots)
}

// stringsFrom appends some slots that hold a string. It reports whether there are more slots.
func (t *Table) stringsFrom(from int, strings []slot) (_ []slot, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()

	to := min(from+weighedAtOnce, len(t.strings.slots))
	for i := from; i < to; i++ {
		if s := t.strings.slots[i]; s.s != "" {
			strings = append(strings, s)
		}
	}
	return strings, to < len(t.strings.slots)
}
