package ownwrites

import "sync"

// mostMade is the number of writes that are remembered.
const mostMade = 4096

// Made remembers which writes have made which versions of objects. The zero value is empty. It is safe for any
// goroutine.
type Made struct {
	mu      sync.Mutex
	history uint64 // the number of histories that were forgotten
	by      map[state]step
	order   []state // in by; once there are mostMade, the oldest is at next
	next    int
}

// state is one version of an object.
type state struct{ uid, version string }

// step is a write: the version that was its precondition, "" for a creation, and the writer.
type step struct{ from, writer string }

// History returns the number of the history in which a write begins now.
func (m *Made) History() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.history
}

// Forget forgets all writes: the server has a new history, in which the versions mean something else.
func (m *Made) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.history++
	m.by, m.order, m.next = nil, nil, 0
}

// Add remembers the version that a write has made, if the write has begun in the present history.
func (m *Made) Add(history uint64, writer, uid, from, to string) {
	m.mu.Lock()
	defer m.mu.Unlock()

	made := state{uid, to}
	if _, known := m.by[made]; known || history != m.history {
		return
	}
	if len(m.order) < mostMade {
		m.order = append(m.order, made)
	} else {
		delete(m.by, m.order[m.next])
		m.order[m.next] = made
		m.next = (m.next + 1) % mostMade
	}
	if m.by == nil {
		m.by = make(map[state]step)
	}
	m.by[made] = step{from, writer}
}

// Is reports whether a writer has turned a version of an object into another one by one write. From is "" for a
// creation.
func (m *Made) Is(writer, uid, from, to string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	by, ok := m.by[state{uid, to}]
	return ok && by == step{from, writer}
}
