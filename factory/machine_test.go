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

// lives has each row of the table in machine.go in full: the state, the call and what
// must hold, then the next state and the action. What it does not mention changes
// nothing. The facts are p(inned), u(sed) and a(live); one with a ! must not hold.
const lives = `
created   startCalled    p     running   doRun
created   startCalled    !pua  running   doLease
created   leaseAcquired  a     running   doLease
running   lastReleased   !p    stopping  doCancel
running   contextEnded   p     ending    doCancel
running   contextEnded   !p    stopping  doCancel
running   runStopped     p     over      doNothing
running   runStopped     !p    stopped   doNothing
running   runRefused     -     refused   doNothing
stopping  runStopped     pa    running   doLease
stopping  runStopped     !pua  running   doLease
stopping  runStopped     !a    stopped   doNothing
stopping  runStopped     !p!u  stopped   doNothing
ending    runStopped     ua    running   doLease
ending    runStopped     !u    over      doNothing
ending    runStopped     !a    over      doNothing
stopped   startCalled    p     running   doRun
stopped   startCalled    !pua  running   doLease
stopped   pinAdded       a     running   doLease
stopped   leaseAcquired  a     running   doLease
over      startCalled    ua    running   doLease
over      leaseAcquired  ua    running   doLease
refused   startCalled    ua    running   doLease
refused   leaseAcquired  ua    running   doLease
restarting runStopped    pa    running   doLease
restarting runStopped    !pua  running   doLease
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
stopped   restartAsked   pa    running   doLease
stopped   restartAsked   !pua  running   doLease
over      restartAsked   pa    running   doLease
over      restartAsked   !pua  running   doLease
refused   restartAsked   pa    running   doLease
refused   restartAsked   !pua  running   doLease
halted    restartAsked   pa    running   doLease
halted    restartAsked   !pua  running   doLease
halted    restartAsked   !a    stopped   doNothing
halted    restartAsked   !p!u  stopped   doNothing
`

var actionNames = []string{"doNothing", "doRun", "doLease", "doCancel"}

// holds tells whether facts are as a row of lives wants them.
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

// everyFacts are all there can be.
func everyFacts() (all []facts) {
	for i := range 8 {
		all = append(all, facts{pinned: i&1 > 0, used: i&2 > 0, alive: i&4 > 0})
	}
	return all
}

// Every state, call and facts: what the table says, and nothing else.
func TestLifeIsAsTheTableSays(t *testing.T) {
	met := make(map[string]bool)
	for s, stateName := range stateNames {
		for c, callName := range callNames {
			for _, f := range everyFacts() {
				if c := call(c); c == leaseAcquired && !f.used || c == lastReleased && f.used || c == pinAdded && !f.pinned {
					continue // cannot be
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

// ownContextEnded is contextEnded where another context that Start was given lives.
const ownContextEnded = restartAsked + 1

// life is a twin of what the machine decides: what came of the calls so far.
type life struct {
	state   state
	facts   facts
	inRun   bool // a run has begun and not stopped
	pinned  int  // runs under the context of a Start
	context bool // that of the run has not ended
	halted  bool // it was told to stop, and not to run anew since
}

// do makes a call, if it can come now, and does what the machine says.
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
		l.pinned = 0 // who restarts it has it run once more
		l.halted = c == stopAsked || l.halted && l.state == created
	default:
		return
	}
	next, action := l.state.after(c, l.facts)
	l.state = next
	switch action {
	case doRun, doLease:
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

// Whatever the order of calls: no run begins while another one lasts; who wants an
// informer gets it to run; and one that nobody wants stops.
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
