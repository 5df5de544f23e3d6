package factory

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The calls of a word, a letter each.
const (
	callStart     = 'S' // Start with another context
	callOldest    = 'o' // the oldest context that lives ends
	callNewest    = 'n' // the newest of several contexts that live ends
	callFor       = 'F' // the informer is requested
	callAcquire   = 'A' // a lease is acquired
	callRelease   = 'R' // the older lease is released
	callLater     = 'r' // the later one of two leases is released
	callRunEnds   = 'E' // the oldest run whose context has ended stops
	callRunExits  = 'P' // the run of the informer in the table stops by itself
	callShutdown  = 'Z' // Shutdown
	everyCall     = "SonFARrEPZ"
	longestOfWord = 7
)

// twin predicts the lives of a scope's informers by the rules of the package's guarantees. It knows contexts and
// informers by their numbers.
type twin struct {
	lives    []bool // the contexts given to Start
	shutDown bool
	all      []twinInformer
	current  int   // the informer in the table, -1 for none
	leases   []int // the informers of the leases
}

type twinInformer struct {
	start     int  // its context, -1 before it begins
	cut       bool // the factory has ended its run
	over      bool // it has stopped
	requested bool
	outlived  bool // Start was called after it had stopped
}

// newTwin replays a word. It returns false if the last call is impossible.
func newTwin(word string) (w *twin, possible bool) {
	w = &twin{current: -1}
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

// stopped reports whether an informer has stopped, or will because the context of its Start has ended.
func (w *twin) stopped(i *twinInformer) bool { return i.over || i.start >= 0 && !w.lives[i.start] }

// ends reports whether an informer runs, and its context has ended.
func (w *twin) ends(i *twinInformer) bool {
	return i.start >= 0 && !i.over && (i.cut || !w.lives[i.start])
}

// use returns the informer in the table. It makes one if there is none, or if that one is replaced.
func (w *twin) use(replaced func(*twinInformer) bool) *twinInformer {
	if w.current < 0 || replaced(&w.all[w.current]) {
		w.all = append(w.all, twinInformer{start: -1})
		w.current = len(w.all) - 1
	}
	return &w.all[w.current]
}

func (w *twin) leased(i int) bool { return slices.Contains(w.leases, i) }

func (w *twin) do(c rune) (possible bool) {
	switch c {
	case callStart:
		return w.doStart()
	case callOldest, callNewest:
		return w.doEnd(c)
	case callFor:
		w.use(func(i *twinInformer) bool { return w.stopped(i) && (!i.requested || i.outlived) }).requested = true
	case callAcquire:
		if len(w.leases) == 2 || w.shutDown {
			return false
		}
		i := w.use(w.stopped)
		w.leases = append(w.leases, w.current)
		if i.start < 0 {
			i.start = w.latest()
		}
	case callRelease, callLater:
		n := len(w.leases) - 1
		if n < 0 || n == 0 && c == callLater {
			return false
		}
		if c == callRelease {
			n = 0
		}
		of := w.leases[n]
		w.leases = slices.Delete(w.leases, n, n+1)
		if i := &w.all[of]; !w.leased(of) && !i.requested {
			if i.cut = true; of == w.current {
				w.current = -1
			}
		}
	case callRunEnds:
		for n := range w.all {
			if i := &w.all[n]; w.ends(i) {
				i.over = true
				return true
			}
		}
		return false
	case callRunExits:
		if w.current < 0 || w.all[w.current].start < 0 || w.stopped(&w.all[w.current]) {
			return false
		}
		w.all[w.current].over = true
	case callShutdown:
		if w.shutDown {
			return false
		}
		w.shutDown = true
		if w.current >= 0 && !w.all[w.current].requested {
			w.all[w.current].cut = true
		}
	}
	return true
}

func (w *twin) doStart() (possible bool) {
	if w.shutDown {
		return false
	}
	w.lives = append(w.lives, true)
	if w.current >= 0 {
		i := &w.all[w.current]
		if i.outlived = w.stopped(i); i.start < 0 {
			i.start = len(w.lives) - 1
		}
	}
	return true
}

func (w *twin) doEnd(c rune) (possible bool) {
	n := slices.Index(w.lives, true)
	if c == callNewest {
		if n == w.latest() {
			return false
		}
		n = w.latest()
	}
	if n < 0 {
		return false
	}
	w.lives[n] = false
	return true
}

// String describes what can be seen of a twin, and of a rig.
func (w *twin) String() string {
	s := ""
	for n := range w.all {
		i := &w.all[n]
		s += describe(i.start >= 0 && !i.over && !w.ends(i), w.ends(i), n == w.current)
	}
	waitedFor := w.current >= 0 && w.all[w.current].requested && w.all[w.current].start >= 0
	return s + fmt.Sprint(" waited for ", waitedFor)
}

func describe(runs, ends, inTable bool) string {
	return fmt.Sprintf("[runs %v ends %v in the table %v]", runs, ends, inTable)
}

// rig is a table with informers of one scope that do nothing.
type rig struct {
	table[string]
	all      []*entry
	fakes    []*rigRun // of all
	leases   []*entry
	contexts []context.Context
	cancels  []context.CancelFunc
}

// rigRun is the run of an informer.
type rigRun struct {
	ctx  context.Context // nil if it has not begun
	over chan struct{}   // closed when it has stopped
}

func (i *rigRun) stopped() bool {
	select {
	case <-i.over:
		return true
	default:
		return false
	}
}

func newRig() *rig {
	return &rig{table: table[string]{entries: map[key[string]]*entry{}, making: map[key[string]]chan struct{}{}}}
}

func (r *rig) makeEntry() *entry {
	i := &rigRun{over: make(chan struct{})}
	e := &entry{runner: runner{done: i.over, begin: func(ctx context.Context) (wait func() error, err error) {
		if i.ctx != nil {
			panic("an informer runs twice")
		}
		i.ctx = ctx
		return func() error {
			<-i.over
			return nil
		}, nil
	}}}
	r.all, r.fakes = append(r.all, e), append(r.fakes, i)
	return e
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
		_ = r.start(ctx) // ErrShutdown after a shutdown
	case callOldest:
		r.cancels[living[0]]()
	case callNewest:
		r.cancels[living[len(living)-1]]()
	case callFor, callAcquire:
		r.use(c)
	case callRelease, callLater:
		n := 0
		if c == callLater {
			n = len(r.leases) - 1
		}
		e := r.leases[n]
		r.leases = slices.Delete(r.leases, n, n+1)
		r.release(e)
	case callRunEnds:
		r.endRun(func(i *rigRun, _ bool) bool { return i.ctx.Err() != nil })
	case callRunExits:
		r.endRun(func(_ *rigRun, inTable bool) bool { return inTable })
	case callShutdown:
		r.shutdown()
	}
}

// use requests or leases the informer.
func (r *rig) use(c rune) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if c == callFor {
		r.enter(key[string]{}, use.replacedByRequest, r.makeEntry).requested = true
		return
	}
	e := r.enter(key[string]{}, use.replacedByLease, r.makeEntry)
	r.lease(e)
	r.leases = append(r.leases, e)
}

// endRun ends the first run for which is returns true.
func (r *rig) endRun(is func(i *rigRun, inTable bool) bool) {
	for n, i := range r.fakes {
		if i.ctx != nil && !i.stopped() && is(i, r.entries[key[string]{}] == r.all[n]) {
			close(i.over)
			return
		}
	}
}

func (r *rig) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()

	s := ""
	current := r.entries[key[string]{}]
	for n, i := range r.fakes {
		runs := i.ctx != nil && !i.stopped()
		s += describe(runs && i.ctx.Err() == nil, runs && i.ctx.Err() != nil, r.all[n] == current)
	}
	return s + fmt.Sprint(" waited for ", current != nil && current.requested && current.start != nil)
}

// finish ends everything.
func (r *rig) finish(t *testing.T, word string) {
	for _, cancel := range r.cancels {
		cancel()
	}
	for _, i := range r.fakes {
		if i.ctx != nil {
			require.Error(t, i.ctx.Err(), "%s: it outlives all contexts", word)
		}
		if !i.stopped() {
			close(i.over)
		}
	}
	r.runs.Wait()
}

// In every word of calls, an informer runs exactly when the rules say so, and the factory has the informer that they
// say.
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
	r := newRig()
	w := &twin{current: -1}
	for i, c := range word {
		w.do(c)
		r.do(c)
		if is, want := r.String(), w.String(); is != want {
			require.Equal(t, want, is, word[:i+1])
		}
	}
	r.finish(t, word)
}
