package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidemark-k8s/tidemark/informer/internal/fences"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// OwnWrites counts what became of the program's own writes in an informer's store. Each write counts at most
// once for each source. Own writes are experimental: the counts may change.
type OwnWrites struct {
	// Linked is true if each source sends its requests through a [reflector.OwnWrites], and its server and
	// user are still those with which the informer started.
	Linked bool
	// Shown counts the writes that the store showed before the watch delivered them. Outside counts the
	// writes of objects that the informer does not read.
	Shown, Outside uint64
	// Waiting counts the writes whose answers could not be shown before the call returned; the watch delivers
	// them. Doubtful counts the writes with an unknown outcome. WaitFresh waits for both.
	Waiting, Doubtful uint64
	// Ghosts counts the objects that the store showed and that no watch or list has confirmed.
	Ghosts uint64
	// Pending is the number of written objects that the watch has not confirmed yet.
	Pending int
}

// written holds what the goroutines of writes need to know about the fences.
type written struct {
	late atomic.Int32 // answers that were not applied before the calls of their writes returned

	mu       sync.Mutex
	bySource []writtenSource
	counts   OwnWrites // except for Linked and Pending
}

// writtenSource is the state of one source.
type writtenSource struct {
	linked, selects bool
	complete        bool // a full state has been applied
	pending         int
}

// link records that requests of a source pass through an OwnWrites.
func (w *written) link(source uint16, selects bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	p := &w.bySource[source]
	p.linked, p.selects = true, p.selects || selects
}

// unlink records that a source gets no more answers.
func (w *written) unlink(source uint16) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.bySource[source].linked = false
}

// selects reports whether a source selects objects. A source that is not linked has no fences.
func (w *written) selects(source uint16) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.bySource[source].selects
}

// complete reports whether a full state of a source has been applied.
func (w *written) complete(source uint16) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.bySource[source].complete
}

// publish records the state of a source and its fences.
func (w *written) publish(source uint16, complete bool, pending int) {
	w.mu.Lock()
	defer w.mu.Unlock()

	p := &w.bySource[source]
	p.complete, p.pending = complete, pending
}

// count counts an answer, unless it has been counted.
func (w *written) count(a *ownwrites.Answer, r fences.Result) {
	if a.Counted.Swap(true) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()

	switch r {
	case fences.Shown:
		w.counts.Shown++
	case fences.Outside:
		w.counts.Outside++
	case fences.Waiting:
		w.counts.Waiting++
	case fences.Doubtful:
		w.counts.Doubtful++
	}
}

// miss counts an answer that was not applied.
func (w *written) miss(a *ownwrites.Answer) {
	if a.Version == "" || a.Kind == ownwrites.Doubt || a.Kind == ownwrites.Emptied { // no version is known
		w.count(a, fences.Doubtful)
	} else {
		w.count(a, fences.Waiting)
	}
}

// ghost counts an object that was shown and is not confirmed.
func (w *written) ghost() {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.counts.Ghosts++
}

// status returns the counts.
func (w *written) status() OwnWrites {
	w.mu.Lock()
	defer w.mu.Unlock()

	o := w.counts
	o.Linked = len(w.bySource) > 0 && !slices.ContainsFunc(w.bySource, func(p writtenSource) bool { return !p.linked })
	for _, p := range w.bySource {
		o.Pending += p.pending
	}
	return o
}
