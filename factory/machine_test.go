package factory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	stateNames = []string{"created", "running", "stopping", "ending", "restarting", "stopped", "over", "refused", "halting", "halted"}
	callNames  = []string{"startCalled", "pinAdded", "leaseAcquired", "lastReleased", "contextEnded", "runStopped", "runRefused", "stopAsked", "restartAsked"}
)

// lives is the table of machine.go in full. A row has the state, the call and its conditions,
// then the next state and the action. Combinations without a row change nothing. The facts are
// p(inned), u(sed) and a(live); "!" negates the next one.
const lives = `
created   startCalled    p     running   doRun
created   startCalled    !pua  running   doRunUnderAll
created   leaseAcquired  a     running   doRunUnderAll
running   lastReleased   !p    stopping  doCancel
running   contextEnded   p     ending    doCancel
running   contextEnded   !p    stopping  doCancel
running   runStopped     p     over      doNothing
running   runStopped     !p    stopped   doNothing
running   runRefused     -     refused   doNothing
stopping  runStopped     pa    running   doRunUnderAll
stopping  runStopped     !pua  running   doRunUnderAll
stopping  runStopped     !a    stopped   doNothing
stopping  runStopped     !p!u  stopped   doNothing
ending    runStopped     ua    running   doRunUnderAll
ending    runStopped     !u    over      doNothing
ending    runStopped     !a    over      doNothing
stopped   startCalled    p     running   doRun
stopped   startCalled    !pua  running   doRunUnderAll
stopped   pinAdded       a     running   doRunUnderAll
stopped   leaseAcquired  a     running   doRunUnderAll
over      startCalled    ua    running   doRunUnderAll
over      leaseAcquired  ua    running   doRunUnderAll
refused   startCalled    ua    running   doRunUnderAll
refused   leaseAcquired  ua    running   doRunUnderAll
restarting runStopped    pa    running   doRunUnderAll
restarting runStopped    !pua  running   doRunUnderAll
restarting runStopped    !a    stopped   doNothing
restarting runStopped    !p!u  stopped   doNothing
halting   runStopped     -     halted    doNothing

created   stopAsked      -     halted    doNothing
running   stopAsked      -     halting   doCancel
stopping  stopAsked      -     halting   doNothing
ending    stopAsked      -     halting   doNothing
restarting stopAsked     -     halting   doNothing
stopped   stopAsked      -     halted    doNothing
over      stopAsked      -     halted    doNothing
refused   stopAsked      -     halted    doNothing

running   restartAsked   -     restarting doCancel
stopping  restartAsked   -     restarting doNothing
ending    restartAsked   -     restarting doNothing
halting   restartAsked   -     restarting doNothing
stopped   restartAsked   pa    running   doRunUnderAll
stopped   restartAsked   !pua  running   doRunUnderAll
over      restartAsked   pa    running   doRunUnderAll
over      restartAsked   !pua  running   doRunUnderAll
refused   restartAsked   pa    running   doRunUnderAll
refused   restartAsked   !pua  running   doRunUnderAll
halted    restartAsked   pa    running   doRunUnderAll
halted    restartAsked   !pua  running   doRunUnderAll
halted    restartAsked   !a    stopped   doNothing
halted    restartAsked   !p!u  stopped   doNothing
`

var actionNames = []string{"doNothing", "doRun", "doRunUnderAll", "doCancel"}

// holds reports whether facts meet the conditions of a row.
func (f facts) holds(condition string) bool {
	known := map[rune]bool{'p': f.pinned, 'u': f.used, 'a': f.alive}
	wanted := true
	for _, c := range condition {
		fact, ok := known[c]
		switch {
		case c == '!':
			wanted = false
			continue
		case ok && fact != wanted:
			return false
		}
		wanted = true
	}
	return true
}

// everyFacts returns all combinations of facts.
func everyFacts() (all []facts) {
	for i := range 8 {
		all = append(all, facts{pinned: i&1 > 0, used: i&2 > 0, alive: i&4 > 0})
	}
	return all
}

// For every state, call and facts, the machine follows the table.
func TestLifeIsAsTheTableSays(t *testing.T) {
	met := make(map[string]bool)
	for s, stateName := range stateNames {
		for c, callName := range callNames {
			for _, f := range everyFacts() {
				if c := call(c); c == leaseAcquired && !f.used || c == lastReleased && f.used || c == pinAdded && !f.pinned {
					continue // impossible combination
				}
				next, do := stateName, "doNothing"
				for row := range strings.Lines(lives) {
					cells := strings.Fields(row)
					if len(cells) == 0 || cells[0] != stateName || cells[1] != callName || !f.holds(cells[2]) {
						continue
					}
					next, do = cells[3], cells[4]
					met[row] = true
				}
				got, action := state(s).after(call(c), f)
				require.Equal(t, next+" "+do, stateNames[got]+" "+actionNames[action], "%s %s %+v", stateName, callName, f)
			}
		}
	}
	for row := range strings.Lines(lives) {
		require.True(t, strings.TrimSpace(row) == "" || met[row], "never met: %s", row)
	}
}

// ownContextEnded is contextEnded while another context given to Start has not ended.
const ownContextEnded = restartAsked + 1

// life is a reference model of an informer driven by the machine.
type life struct {
	state   state
	facts   facts
	inRun   bool // a run has begun and not stopped
	pinned  int  // number of runs under the context of a Start
	context bool // the context of the run has not ended
	halted  bool // stopped by StopInformer, and not restarted since
}

// do makes a call, if it is possible now, and performs the machine's action.
func (l *life) do(c call) {
	switch {
	case c == startCalled:
		l.facts.alive = true
	case c == pinAdded && !l.facts.pinned:
		l.facts.pinned = true
	case c == leaseAcquired:
		l.facts.used = true
	case c == lastReleased && l.facts.used:
		l.facts.used = false
	case c == contextEnded, c == ownContextEnded && l.facts.pinned:
		l.facts.alive = c == ownContextEnded && l.facts.alive
		c = contextEnded
		if l.state != running {
			return
		}
	case c == runStopped && l.inRun && !l.context:
		l.inRun = false
	case c == stopAsked || c == restartAsked:
		l.pinned = 0 // a restart allows one more run for the pin
		l.halted = c == stopAsked || l.halted && l.state == created
	default:
		return
	}
	next, action := l.state.after(c, l.facts)
	l.state = next
	switch action {
	case doRun, doRunUnderAll:
		if l.inRun {
			panic("another run lasts")
		}
		l.inRun, l.context = true, true
		if action == doRun {
			l.pinned++
		}
	case doCancel:
		l.context = false
	case doNothing:
	}
}

// In any order of calls, no run begins during another one, a wanted informer runs in the end, and
// an unwanted one stops.
func TestLifeInAnyOrder(t *testing.T) {
	calls := []call{startCalled, pinAdded, leaseAcquired, lastReleased, contextEnded, ownContextEnded, runStopped, stopAsked, restartAsked}
	const length = 5
	var walk func(l life, trace string, left int)
	walk = func(l life, trace string, left int) {
		require.Equal(t, l.inRun, l.state == running || l.state.ends(), trace)
		require.Equal(t, l.context && l.inRun, l.state == running, trace)
		require.LessOrEqual(t, l.pinned, 1, "%s: it runs once for its pin", trace)
		if l.halted {
			require.NotEqual(t, running, l.state, "%s: it was told to stop", trace)
		}
		if l.facts.alive && l.facts.used && !l.halted {
			require.True(t, l.inRun, "%s: its users wait for ever", trace)
		}
		if !l.facts.used && !l.facts.pinned {
			require.NotEqual(t, running, l.state, "%s: nobody wants it", trace)
		}
		if left == 0 {
			return
		}
		for _, c := range calls {
			next := l
			next.do(c)
			walk(next, fmt.Sprint(trace, " ", c), left-1)
		}
	}
	walk(life{}, "", length)
}
