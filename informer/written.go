package informer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tidemark-k8s/tidemark/informer/internal/fences"
	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
)

// OwnWrites is what has become of the program's own writes in an informer's store.
type OwnWrites struct {
	// Linked is true if each source sends its requests through a [reflector.OwnWrites], and has changed neither the
	// server nor the user since the informer began.
	Linked bool
	// Shown counts the writes that the store has shown before the watch brought them, Outside those of
	// objects that the informer does not read.
	Shown, Outside uint64
	// Waiting counts the writes whose answers could not be shown: the watch brings them. Doubtful counts
	// those of which nobody can tell what they have done. See [Informer.WaitWritten].
	Waiting, Doubtful uint64
	// Ghosts counts the objects that the store has shown and that no watch or list has confirmed.
	Ghosts uint64
	// Pending is the number of objects that the watch has not confirmed yet.
	Pending int
}

// WaitWritten waits until the store shows all writes of the program that have returned, and then returns
// nil: at once, unless the answer to one of them could not be shown, or nobody can tell what it has done.
// Then WaitWritten waits until the watch has come so far; if nothing changes in the source, the reflector
// asks for a bookmark, as for [Informer.WaitFresh]. After a write whose outcome is not known, it waits as
// WaitFresh does. Before the first full state it waits as [Informer.WaitSynced] does. A write that began before the
// first request of the informer is not known here: WaitFresh waits for it.
//
// It returns the errors of WaitSynced and WaitFresh, and [ErrNotLinked] if the requests of a source do not
// pass through a [reflector.OwnWrites].
func (i *Informer[T]) WaitWritten(ctx context.Context) error { return i.core.WaitWritten(ctx) }

// WaitWritten is [Informer.WaitWritten].
func (c *core) WaitWritten(ctx context.Context) error {
	if err := c.WaitSynced(ctx); err != nil {
		return err
	}
	history := c.versions.history()
	missed, doubts, linked := c.written.missed()
	switch {
	case !linked:
		return fmt.Errorf("informer %s: %w", c.options.Name, ErrNotLinked)
	case doubts != nil:
		if err := c.WaitFresh(ctx); err != nil {
			return err
		}
		c.written.settle(doubts)
		return nil
	}
	if err := c.waitNewest(ctx, missed, history); !errors.Is(err, errNewHistory) {
		return err
	}
	return c.WaitWritten(ctx)
}

// written holds what the goroutines of writes and of waits need to know of the fences. An informer without a
// linked source has the zero value.
type written struct {
	mu       sync.Mutex
	bySource []writtenSource // nil until a source is linked
	counts   OwnWrites       // but for Linked and Pending
}

// writtenSource is the state of one source.
type writtenSource struct {
	linked, selects    bool
	histories          uint64
	pending            int
	newest             string // the newest version of an answer that was not shown, "" for none
	doubts, doubtsOver uint64 // counted, and the count up to which a wait has cleared them
}

// link records that requests of a source pass through an OwnWrites. sources is the number of all sources.
func (w *written) link(source uint16, sources int, selects bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.bySource == nil {
		w.bySource = make([]writtenSource, sources)
	}
	p := &w.bySource[source]
	p.linked, p.selects = true, p.selects || selects
}

// unlink records that the source's run gets no answers any more.
func (w *written) unlink(source uint16) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.bySource[source].linked = false
}

// selects reports whether a source selects objects. One that is not linked has no fences.
func (w *written) selects(source uint16) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.bySource[source].selects
}

// before returns what the store has reached, for a request that begins now, and whether the source is linked.
func (w *written) before(source uint16) (b ownwrites.Before, linked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.bySource == nil {
		return b, false
	}
	p := &w.bySource[source]
	return ownwrites.Before{History: p.histories}, p.linked
}

// publish records the state of a source's fences. A new history makes what was not shown meaningless.
func (w *written) publish(source uint16, histories uint64, pending int) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.bySource == nil {
		return
	}
	p := &w.bySource[source]
	if p.histories != histories {
		p.newest, p.doubtsOver = "", p.doubts
	}
	p.histories, p.pending = histories, pending
}

// count counts an answer that the processLoop has applied.
func (w *written) count(source uint16, r fences.Result, a *ownwrites.Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()

	switch r {
	case fences.Shown:
		w.counts.Shown++
	case fences.Outside:
		w.counts.Outside++
	case fences.Waiting:
		w.wait(source, a.Version)
	case fences.Doubtful:
		w.doubt(source)
	}
}

// miss counts an answer that was not applied.
func (w *written) miss(source uint16, a *ownwrites.Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if a.Version == "" || a.Kind == ownwrites.Doubt || a.Kind == ownwrites.Emptied { // at no known version
		w.doubt(source)
	} else {
		w.wait(source, a.Version)
	}
}

// ghost counts an object that was shown and is not confirmed.
func (w *written) ghost() {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.counts.Ghosts++
}

// wait counts an answer that the watch has to bring. The caller holds mu.
func (w *written) wait(source uint16, version string) {
	w.counts.Waiting++
	w.bySource[source].newest = object.Advance(w.bySource[source].newest, version)
}

// doubt counts a write of which nobody can tell what it has done. The caller holds mu.
func (w *written) doubt(source uint16) {
	w.counts.Doubtful++
	w.bySource[source].doubts++
}

// missed returns, for each source, the newest version that was not shown, and the number of doubts if a wait
// has not cleared all of them. linked is false if a source is not linked.
func (w *written) missed() (newest []string, doubts []uint64, linked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	inDoubt := false
	for _, p := range w.bySource {
		newest, doubts = append(newest, p.newest), append(doubts, p.doubts)
		inDoubt = inDoubt || p.doubts > p.doubtsOver
	}
	if !inDoubt {
		doubts = nil
	}
	return newest, doubts, w.isLinked()
}

// settle clears the doubts that were counted before a wait for the server's newest state.
func (w *written) settle(doubts []uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()

	for i, n := range doubts {
		w.bySource[i].doubtsOver = max(w.bySource[i].doubtsOver, n)
	}
}

// isLinked reports whether all sources are linked. The caller holds mu.
func (w *written) isLinked() bool {
	return w.bySource != nil && !slices.ContainsFunc(w.bySource, func(p writtenSource) bool { return !p.linked })
}

// status returns the counts.
func (w *written) status() OwnWrites {
	w.mu.Lock()
	defer w.mu.Unlock()

	o := w.counts
	o.Linked = w.isLinked()
	for _, p := range w.bySource {
		o.Pending += p.pending
	}
	return o
}
