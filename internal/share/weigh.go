package share

import "unsafe"

// Weigh calls add for the values and strings that the table holds, of which objects may hold
// some too, and returns how many bytes it takes beside them. It may be called from any goroutine
// that does not hold the table, which it takes for the time.
func (t *Table) Weigh(add func(value any)) (bytes int64) {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()

	bytes = int64(len(t.slots))*int64(unsafe.Sizeof(entry{})) +
		int64(len(t.strings.slots))*int64(unsafe.Sizeof(slot{})) +
		int64(len(t.seen.buckets))*int64(unsafe.Sizeof([bucket]uint32{}))
	for i := range t.slots {
		if e := &t.slots[i]; e.value != nil {
			bytes += int64(len(e.key))
			add(e.value)
		}
	}
	for i := range t.strings.slots {
		if s := &t.strings.slots[i]; s.s != "" {
			add(s.s)
			add(s.boxed)
		}
	}
	return bytes
}
