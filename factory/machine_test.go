package factory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	stateNames = []string{"created", "running", "stopping", "stopped", "refused", "halting", "halted"}
	callNames  = []string{"asked", "pinStarted", "left", "runStopped", "runRefused", "stopAsked", "restartAsked"}
)

// transitions is the table of machine.go in full. A row has the state, the call and its conditions,
// then the next state and the action. Combinations without a row change nothing. The facts are
// w(anted) and s(hut down); "!" negates the next one.
const transitions = `
created  asked        w!s   running  doRun
created  pinStarted   -     running  doRun
created  stopAsked    -     halted   doNothing

running  asked        !w    stopping doCancel
running  pinStarted   !w    stopping doCancel
running  left         !w    stopping doCancel
running  runStopped   -     refused  doNothing
running  runRefused   -     refused  doNothing
running  stopAsked    -     halting  doCancel
running  restartAsked -     stopping doCancel

stopping runStopped   w!s   running  doRun
stopping runStopped   !w    stopped  doNothing
stopping runStopped   s     stopped  doNothing
stopping stopAsked    -     halting  doNothing

stopped  asked        w!s   running  doRun
stopped  pinStarted   -     running  doRun
stopped  stopAsked    -     halted   doNothing
stopped  restartAsked w!s   running  doRun

refused  asked        w!s   running  doRun
refused  pinStarted   -     running  doRun
refused  stopAsked    -     halted   doNothing
refused  restartAsked w!s   running  doRun
refused  restartAsked !w    stopped  doNothing
refused  restartAsked s     stopped  doNothing

halting  runStopped   -     halted   doNothing
halting  restartAsked -     stopping doNothing

halted   restartAsked w!s   running  doRun
halted   restartAsked !w    stopped  doNothing
halted   restartAsked s     stopped  doNothing
`

var actionNames = []string{"doNothing", "doRun", "doCancel"}

// holds reports whether facts meet the conditions of a row.
func (f facts) holds(condition string) bool {
	known := map[rune]bool{'w': f.wanted, 's': f.shutDown}
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

// For every state, possible call and facts, the machine follows the table.
func TestLifeIsAsTheTableSays(t *testing.T) {
	met := make(map[string]bool)
	for s, stateName := range stateNames {
		for c, callName := range callNames {
			if c := call(c); c == runStopped && !state(s).inRun() || c == runRefused && state(s) != running {
				continue // no run
			}
			for _, f := range []facts{{}, {wanted: true}, {shutDown: true}, {wanted: true, shutDown: true}} {
				next, do := stateName, "doNothing"
				for row := range strings.Lines(transitions) {
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
	for row := range strings.Lines(transitions) {
		require.True(t, strings.TrimSpace(row) == "" || met[row], "never met: %s", row)
	}
}
