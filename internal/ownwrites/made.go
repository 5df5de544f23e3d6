package ownwrites

import "sync"

// mostMade is the number of writes that Made remembers.
const mostMade = 4096

// Made remembers which writes have made which versions of objects. The zero value is empty. It is safe
// for concurrent use.
type Made struct {
	mu      sync.Mutex
	history uint64 // how many histories were forgotten
	by      map[state]step
	order   []state // the keys of by; when there are mostMade, the oldest is at next
	next    int
}

// state is one version of an object.
type state struct{ uid, version string }

// step is a write: its writer, and the version that was its precondition, or "" for a creation.
type step struct{ from, writer string }

// History returns the number of the history in which a write that begins now belongs.
func (m *Made) History() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.history
}

// Forget forgets all writes. The server has a new history, in which versions have another meaning.
func (m *Made) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.history++
	m.by, m.order, m.next = nil, nil, 0
}

// Add records the version that a write has made, if the write began in the current history.
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

// Is reports whether a writer has turned one version of an object into another by a single write. from
// is "" for a creation.
func (m *Made) Is(writer, uid, from, to string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	by, ok := m.by[state{uid, to}]
	return ok && by == step{from, writer}
}
