package factory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer"
)

// The calls of a word, a letter each.
const (
	callStart     = 'S' // Start with another context
	callOldest    = 'o' // the oldest context that lives ends
	callNewest    = 'n' // the newest of several contexts that live ends
	callFor       = 'F' // the informer is requested
	callAcquire   = 'A' // a lease is acquired
	callRelease   = 'R' // a lease is released
	callStop      = 'H' // StopInformer
	callRestart   = 'X' // RestartInformer
	callRunEnds   = 'E' // the run whose context has ended stops
	callRunExits  = 'P' // a user's function ends the run
	callShutdown  = 'Z' // Shutdown
	everyCall     = "SonFARHXEPZ"
	longestOfWord = 6
)

// twin predicts an informer's life by the rules of the package's guarantees, from all calls so far.
// It knows contexts only by their numbers.
type twin struct {
	lives    []bool // the contexts given to Start
	users    int
	pin      int // the context of the pin, -1 for none
	pinned   bool
	waits    bool // the pin waits for a Start
	exited   bool // a user's function has ended the last run
	exitPin  bool // that was the run of the pin
	halted   bool
	shutDown bool
	began    bool // it has run
	runs     bool // it runs, and its context lives
	ends     bool // it runs, and its context has ended
}

// newTwin replays a word. It returns false if the last call is impossible.
func newTwin(word string) (w twin, possible bool) {
	w.pin = -1
	for _, c := range word {
		possible = w.do(c)
	}
	return w, possible
}

// latest returns the latest context that lives, or -1.
func (w *twin) latest() int {
	for i, lives := range slices.Backward(w.lives) {
		if lives {
			return i
		}
	}
	return -1
}

func (w *twin) pinLives() bool { return w.pin >= 0 && w.lives[w.pin] }

func (w *twin) wanted() bool {
	leased := w.users > 0 && w.latest() >= 0 && !w.shutDown
	return !w.halted && (leased || w.pinLives())
}

// hold gives a pin that waits the context of the latest Start.
func (w *twin) hold() {
	if w.waits && !w.pinLives() && !w.shutDown {
		w.pin = w.latest()
	}
}

func (w *twin) do(c rune) (possible bool) {
	restarted := false
	switch c {
	case callStart:
		if w.shutDown {
			return false
		}
		w.lives = append(w.lives, true)
		if w.waits || w.exitPin {
			w.waits, w.exitPin, w.pin = false, false, len(w.lives)-1
		}
	case callOldest:
		oldest := slices.Index(w.lives, true)
		if oldest < 0 {
			return false
		}
		w.lives[oldest] = false
	case callNewest:
		newest := w.latest()
		if newest == slices.Index(w.lives, true) {
			return false
		}
		w.lives[newest] = false
	case callFor:
		if w.pinned {
			return false
		}
		w.pinned, w.waits = true, true
		if w.began && !w.exited {
			w.hold()
		}
	case callAcquire:
		if w.users == 2 || w.shutDown {
			return false
		}
		w.users++
		w.hold()
	case callRelease:
		if w.users == 0 {
			return false
		}
		w.users--
	case callStop:
		w.halted, w.exited = true, false
	case callRestart:
		if w.began || w.halted {
			w.waits = w.waits || w.pinned && !w.pinLives()
			w.hold()
			w.halted, w.exited, restarted = false, false, true
			if w.waits {
				w.exitPin = false
			}
		}
	case callRunEnds:
		if !w.ends {
			return false
		}
		w.ends = false
	case callRunExits:
		if !w.runs {
			return false
		}
		w.runs, w.exited, w.pin = false, true, -1
		w.exitPin = w.pinned && !w.waits
	case callShutdown:
		if w.shutDown {
			return false
		}
		w.shutDown = true
	}
	switch {
	case w.runs && (restarted || !w.wanted()):
		w.runs, w.ends = false, true
	case w.exited && c != callStart && c != callAcquire && c != callFor: // nobody has asked for it since
	case !w.runs && !w.ends && w.wanted() && !w.shutDown:
		w.runs, w.began, w.exited = true, true, false
	}
	return true
}

// ran reports whether WaitForCacheSync waits for the informer.
func (w *twin) ran() bool {
	return !w.halted && w.pinned && (!w.waits || w.runs || w.ends)
}

// rig is a table with one informer that does nothing.
type rig struct {
	table[string]
	e        *entry
	contexts []context.Context
	cancels  []context.CancelFunc
	inRun    bool
	ctx      context.Context // of the last run
	run      informer.RunOptions
}

func newRig(t *testing.T) *rig {
	r := &rig{table: table[string]{entries: map[key[string]]*entry{}, making: map[key[string]]chan struct{}{}, retention: -1}}
	r.mu.Lock()
	defer r.unlock()

	r.e = r.enter(key[string]{}, func() *entry {
		return &entry{begin: func(ctx context.Context, o informer.RunOptions) error {
			require.False(t, r.inRun, "a run begins during another one")
			r.inRun, r.ctx, r.run = true, ctx, o
			return nil
		}}
	})
	return r
}

// locked calls f as the factory's functions do.
func (r *rig) locked(f func()) {
	r.mu.Lock()
	defer r.unlock()

	f()
}

// end ends a context given to Start.
func (r *rig) end(context int) {
	r.cancels[context]()
	r.contextEnds()
}

func (r *rig) do(c rune) {
	var living []int
	for i, ctx := range r.contexts {
		if lives(ctx) {
			living = append(living, i)
		}
	}
	switch c {
	case callStart:
		ctx, cancel := context.WithCancel(context.Background())
		r.contexts, r.cancels = append(r.contexts, ctx), append(r.cancels, cancel)
		r.start(ctx)
	case callOldest:
		r.end(living[0])
	case callNewest:
		r.end(living[len(living)-1])
	case callFor:
		r.locked(func() { r.pin(r.e) })
	case callAcquire:
		r.locked(func() { r.acquire(r.e) })
	case callRelease:
		r.release(r.e)
	case callStop:
		r.locked(func() { r.single(r.e, stopAsked) })
	case callRestart:
		r.locked(func() { r.single(r.e, restartAsked) })
	case callRunEnds:
		r.inRun = false
		run := r.run
		run.Stopped(nil)
		run.Returned()
	case callRunExits:
		r.inRun = false
		run := r.run
		run.Stopped(informer.ErrExited)
		run.Returned()
	case callShutdown:
		r.shutdown()
	}
}

// check compares the table's informer with the twin.
func (r *rig) check(t *testing.T, w twin, word string) {
	r.mu.Lock()
	defer r.unlock()

	is := fmt.Sprintf("runs %v, ends %v, waited for %v", r.inRun && r.ctx.Err() == nil, r.inRun && r.ctx.Err() != nil, r.e.ran())
	want := fmt.Sprintf("runs %v, ends %v, waited for %v", w.runs, w.ends, w.ran())
	if is != want {
		require.Equal(t, want, is, word)
	}
	if !r.inRun && (r.starts.watchers > 0 || len(r.starts.unwatches) > 0) {
		require.Fail(t, "contexts are watched, though nothing runs", word)
	}
}

// finish ends everything. The last run ends, too.
func (r *rig) finish(t *testing.T, word string) {
	for i := range r.contexts {
		r.end(i)
	}
	for r.inRun {
		require.Error(t, r.ctx.Err(), "%s: it outlives all contexts", word)
		r.do(callRunEnds)
	}
	r.runs.Wait()
}

// In every word of calls, an informer runs whenever the rules say so, is not interrupted meanwhile,
// and does not run otherwise.
func TestAnInformersLifeInEveryWord(t *testing.T) {
	words := 0
	var walk func(word string)
	walk = func(word string) {
		extended := false
		if len(word) < longestOfWord {
			for _, c := range everyCall {
				if _, possible := newTwin(word + string(c)); possible {
					extended = true
					walk(word + string(c))
				}
			}
		}
		if !extended {
			words++
			playWord(t, word)
		}
	}
	walk("")
	t.Logf("%d words", words)
}

func playWord(t *testing.T, word string) {
	r := newRig(t)
	w := twin{pin: -1}
	for i, c := range word {
		w.do(c)
		r.do(c)
		r.check(t, w, word[:i+1])
	}
	r.finish(t, strings.Clone(word))
}
