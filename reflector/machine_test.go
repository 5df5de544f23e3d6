package reflector

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/tier"
)

// The test tries every sequence of up to six inputs.
func TestMachineOnEveryShortWord(t *testing.T) {
	tier.SkipRaced(t)
	for name, w := range map[string]world{
		"listing":              newWorld(StreamingUnsupported, 0),
		"streaming":            newWorld(StreamingSupported, 0),
		"watching":             inWatch(newWorld(StreamingUnsupported, 0)),
		"watching by a stream": inWatch(newWorld(StreamingSupported, 0)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := map[phase]bool{}
			words := explore(t, w, 6, seen)
			t.Logf("%d words", words)
			for p := listing; p < phases; p++ {
				ofStreams := p == openingStream || p == streaming || p == committingStream
				require.True(t, seen[p] || ofStreams && w.machine.streamSupport == StreamingUnsupported, "phase %d was never reached", p)
			}
		})
	}
}

func explore(t *testing.T, w world, depth int, seen map[phase]bool) (words int) {
	seen[w.machine.phase] = true
	if depth == 0 || w.action.op == doStop {
		return 1
	}
	for _, in := range w.inputs("3", "7", "x", "") {
		next := w
		if wrong := next.step(in); wrong != "" {
			t.Fatalf("%s after %+v: %+v", wrong, in, next)
		}
		words += explore(t, next, depth-1, seen)
	}
	return words
}

// The test tries every input in every reachable state. testdata/machine.txt has all steps.
func TestMachineInEveryState(t *testing.T) {
	if tier.Raced() {
		t.Skip("a machine is a value of one goroutine: the detector takes minutes, and can find nothing")
	}
	all := &transitions{seen: map[transition]bool{}}
	t.Run("explored", func(t *testing.T) {
		for name, test := range map[string]struct {
			start    world
			versions []string // of pages
		}{
			"listing":                  {newWorld(StreamingUnsupported, 0), []string{"3", "7"}},
			"listing by pages":         {newWorld(StreamingUnsupported, 7), []string{"3", "7"}},
			"listing without versions": {newWorld(StreamingUnsupported, 0), []string{"7", ""}},
			"streaming":                {newWorld(StreamingSupported, 0), []string{"3", "7"}},
			"streaming, perhaps":       {newWorld(StreamingUnknown, 0), []string{"7"}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				exploreStates(t, test.start, test.versions, all)
			})
		}
	})
	all.compare(t)
	all.coverTable(t)
}

func exploreStates(t *testing.T, start world, versions []string, all *transitions) {
	type reached struct {
		world world
		from  int // its index in states
		in    input
	}
	start.forget()
	states, known, most := []reached{{world: start}}, map[world]bool{start: true}, 0
	for i := 0; i < len(states); i++ {
		for _, in := range states[i].world.inputs(versions...) {
			next := states[i].world
			if wrong := next.step(in); wrong != "" {
				word := fmt.Sprintf("%+v\n-> %+v", in, &next)
				for s := i; s != 0; s = states[s].from {
					word = fmt.Sprintf("%+v\n", states[s].in) + word
				}
				t.Fatalf("%s after\n%s", wrong, word)
			}
			all.add(states[i].world.machine.phase, in, &next)
			most = max(most, next.requests)
			next.forget()
			if !known[next] && next.action.op != doStop {
				known[next] = true
				states = append(states, reached{next, i, in})
			}
		}
	}
	t.Logf("%d states, up to %d requests without a pause", len(states), most)
}

// If a server answers every request with the same failure, the machine backs off, except for the
// immediate retries that the contract allows.
func TestMachineHasNoHotLoop(t *testing.T) {
	for _, c := range classes {
		for name, w := range map[string]world{"listing": newWorld(StreamingUnsupported, 0), "streaming": newWorld(StreamingSupported, 0), "watching": inWatch(newWorld(StreamingSupported, 0))} {
			waits := 0
			for range 100 {
				in := input{kind: inFailed, class: c}
				if w.action.op == doWait {
					in = input{kind: inWaited}
					waits++
					require.Equal(t, waits, w.action.attempt, name)
				}
				require.Empty(t, w.step(in), "%s: %+v", name, w)
			}
			require.GreaterOrEqual(t, waits, 45, "class %d of %s", c, name)
		}
	}
}

// If a server accepts every watch and ends it at once, the machine backs off.
func TestMachinePacesShortWatches(t *testing.T) {
	w := inWatch(newWorld(StreamingUnsupported, 0))
	var ops []op
	for range 3 {
		for _, in := range []input{{kind: inEvents, version: "9"}, {kind: inClosed, short: true}} {
			require.Empty(t, w.step(in))
		}
		ops = append(ops, w.action.op)
		if w.action.op == doWait {
			require.Equal(t, 1, w.action.attempt)
			w.step(input{kind: inWaited})
		}
		require.Equal(t, doWatch, w.action.op)
		w.step(input{kind: inOpened})
	}
	require.Equal(t, []op{doWatch, doWait, doWait}, ops)
}
