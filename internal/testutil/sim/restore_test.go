package sim_test

import (
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"

	"github.com/tidemark-k8s/tidemark/reflector"
)

// restoreServer takes the server down for n seconds and brings it back with another history, without the
// last n+2 changes. The informer has to notice. It cannot if the cache is not at the end of the old
// history, or if the new history becomes as long as the old one before the informer sees it. The step
// avoids both cases. It also skips sources that neither stream nor have sent a bookmark, because their
// watches are silent, like those of fake clients.
func (w *world) restoreServer(s step, r *rand.Rand) {
	if !w.running || len(w.model.log) < s.n+3 {
		return
	}
	w.settle()
	w.catchesUp()
	if w.failed() || w.streaming == reflector.StreamingUnsupported && !w.marked() {
		return
	}
	w.reach("operation", restoreServer)
	changes := w.model.rollBack(s.n + 2)
	w.down(true)
	before := w.version()
	w.serve()
	for _, c := range changes {
		w.send(c)
	}
	w.send(w.model.randomChange(r, w.setup))
	if w.version() == before {
		panic("the world is invalid: the new history is as long as the old one")
	}
	time.Sleep(time.Duration(s.n) * time.Second)
	w.down(w.mutant.staysDown)
	time.Sleep(w.bound())
	synctest.Wait()
	for _, what := range cacheDiffers(w) {
		w.fault("restored", "%s", what)
	}
}

// marked reports whether each source has sent a bookmark.
func (w *world) marked() bool {
	return !slices.ContainsFunc(w.sources, func(s *source) bool { return !s.marked.Load() })
}

// down makes the server reachable or unreachable for the sources.
func (w *world) down(is bool) {
	for _, s := range w.sources {
		s.recordCause()
		s.mu.Lock()
		s.down = is
		s.mu.Unlock()
	}
}

// catchesUp sends bookmarks until the cache has the server's version.
func (w *world) catchesUp() {
	began, bound := time.Now(), w.bound()
	for w.server.Bookmark(); ; w.server.Bookmark() {
		synctest.Wait()
		if w.informer.Indexer().Version() == w.version() {
			return
		}
		if time.Since(began) > bound {
			w.fault("catches up", "the server is at version %s, but the cache is at %s", w.version(), w.informer.Indexer().Version())
			return
		}
		time.Sleep(time.Second)
	}
}
