package served

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxUnpaused is the largest number of requests without a pause or an event between them. A machine
// in a hot loop exceeds it.
const maxUnpaused = 8

// world is the reference model of a machine's surroundings. It derives the requests under way and
// their answers from the actions and inputs alone, and checks the machine's actions against them.
type world struct {
	machine machine
	ended   bool // the machine has answered, and the reflector has not called again
	deleted bool // the answer was Deleted

	watching  bool // the definition was listed and its watch has not ended
	asking    bool // the list of the definition is under way
	other     op   // the operation under way beside it: doDiscover, doPause or doRetry, or 0
	seen      bool // the last answer about the definition had it
	lacking   int  // number of successful discoveries in a row that lack the resource
	known     bool
	unpaused  int // requests since the last pause or event
	unbelieve int // the tries since the resource was found that were not news of an event
}

// step passes in to the machine, and returns the broken rule, or "".
func (w *world) step(in input) (wrong string) {
	w.hear(in)
	a := w.machine.step(in)
	w.machine.check()
	if wrong := w.judge(in, a); wrong != "" {
		return wrong
	}
	w.follow(a)
	if !w.ended && !w.watching && !w.asking && w.other == 0 {
		return "waits for nothing"
	}
	if w.unpaused > maxUnpaused {
		return "a hot loop"
	}
	return ""
}

// hear updates the operations under way and the counts from an input.
func (w *world) hear(in input) {
	switch in.kind {
	case inMissed:
		w.ended, w.known, w.lacking = false, in.known, 0
	case inFound: // a watch was open, whose end the reflector paces
		w.unbelieve, w.unpaused = 0, 0
	case inDefined, inOpaque:
		if w.watching {
			w.unpaused = 0
		}
		w.asking, w.watching = false, true
	case inUndefined:
		w.asking, w.watching = false, true
	case inRefused, inBroken:
		w.asking, w.watching = false, false
	case inDropped:
		w.unpaused = 0
	case inDiscovered:
		w.lacking++
		if len(in.versions) > 0 {
			w.lacking = 0
		}
		w.other = 0
	case inUndiscovered:
		w.other, w.lacking = 0, 0
	case inDue:
		w.other, w.unpaused = 0, 0
	}
}

// judge returns the rule that the machine's action breaks, or "".
func (w *world) judge(in input, a action) string {
	defined := w.seen
	switch in.kind {
	case inDefined, inOpaque:
		if !w.seen {
			w.unbelieve = 0
		}
		w.seen = true
	case inUndefined, inDropped:
		w.seen = false
	}
	switch {
	case in.kind == inFound && a != (action{}):
		return "asks while the resource is there"
	case a.op != doAnswer:
		return ""
	case a.answer == Deleted:
		confirmed := in.kind == inDropped || in.kind == inUndefined && defined || in.kind == inDiscovered && w.lacking >= 2 && (!w.seen || !w.watching)
		if !w.known || !confirmed {
			return "tells a deletion that nobody has seen"
		}
	case a.answer == Unknowable && in.kind != inUndiscovered && in.kind != inBroken:
		return "gives up without reason"
	case a.answer == Served && a.version != "v1" && (a.version != "v2" || !w.machine.follows):
		return "the wrong version: " + a.version
	case a.answer == Served && in.kind != inDue && w.unbelieve > 0 && in.kind != inDefined:
		return "tries again without a pause"
	}
	return ""
}

// follow updates the operations under way and the counts from an action.
func (w *world) follow(a action) {
	switch a.op {
	case doStay:
		return
	case doAnswer:
		w.ended, w.watching, w.asking, w.known, w.deleted = true, false, false, false, a.answer == Deleted
		switch a.answer {
		case Unknowable, Deleted: // the reflector backs off; something has changed
			w.unpaused = 0
		case Served:
			w.unbelieve = min(w.unbelieve+1, 2)
		}
	case doDefine:
		w.asking = true
		w.unpaused++
	case doDiscover:
		w.unpaused++
	}
	w.other = 0
	if a.op == doDiscover || a.op == doPause || a.op == doRetry {
		w.other = a.op
	}
}

// inputs returns all inputs that are possible in the present state.
func (w *world) inputs() []input {
	if w.ended {
		all := []input{{kind: inMissed}, {kind: inMissed, known: true}}
		if !w.deleted {
			all = append(all, input{kind: inFound})
		}
		return all
	}
	var all []input
	if w.asking || w.watching {
		all = append(all, input{kind: inDefined}, input{kind: inDefined, versions: []string{"v1"}},
			input{kind: inDefined, versions: []string{"v2"}}, input{kind: inOpaque}, input{kind: inRefused}, input{kind: inBroken}, input{kind: inBroken, lasted: true})
	}
	if w.asking {
		all = append(all, input{kind: inUndefined})
	}
	if w.watching {
		all = append(all, input{kind: inDropped})
	}
	switch w.other {
	case doDiscover:
		all = append(all, input{kind: inDiscovered}, input{kind: inDiscovered, versions: []string{"v1"}},
			input{kind: inDiscovered, versions: []string{"v2"}}, input{kind: inUndiscovered})
	case doPause, doRetry:
		all = append(all, input{kind: inDue})
	}
	return all
}

// forget resets or limits the counters, so that the number of states is finite.
func (w *world) forget() {
	w.machine.asked, w.machine.breaks = 0, 0
	w.machine.misses, w.lacking = min(w.machine.misses, 1), min(w.lacking, 2)
}

// The machine breaks no rule with any possible input in any reachable state.
func TestMachineInEveryState(t *testing.T) {
	for _, follows := range []bool{false, true} {
		t.Run(fmt.Sprintf("follows %v", follows), func(t *testing.T) {
			type from struct {
				world world
				in    string
			}
			start := world{machine: machine{wanted: "v1", follows: follows}, ended: true}
			known := map[world]from{start: {}}
			answers := map[Answer]bool{}
			for queue := []world{start}; len(queue) > 0; queue = queue[1:] {
				for _, in := range queue[0].inputs() {
					next := queue[0]
					if wrong := next.step(in); wrong != "" {
						word := fmt.Sprintf("%+v\n-> %+v", in, next)
						for w := queue[0]; w != start; w = known[w].world {
							word = known[w].in + "\n" + word
						}
						t.Fatalf("%s after\n%s", wrong, word)
					}
					next.forget()
					if _, ok := known[next]; !ok {
						known[next] = from{queue[0], fmt.Sprintf("%+v", in)}
						queue = append(queue, next)
					}
					if next.ended && in.kind != inFound {
						answers[answerOf(queue[0].machine, in)] = true
					}
				}
			}
			t.Logf("%d states", len(known))
			require.Equal(t, map[Answer]bool{Served: true, Deleted: true, Unknowable: true}, answers)
		})
	}
}

func answerOf(m machine, in input) Answer { return m.step(in).answer }

// play feeds words and returns the last action.
func play(m *machine, word ...input) (last action) {
	for _, in := range word {
		last = m.step(in)
		m.check()
	}
	return last
}

var (
	missed     = input{kind: inMissed, known: true}
	undefined  = input{kind: inUndefined}
	lacks      = input{kind: inDiscovered}
	has        = input{kind: inDiscovered, versions: []string{"v1"}}
	failing    = input{kind: inUndiscovered}
	defined    = input{kind: inDefined, versions: []string{"v1"}}
	unready    = input{kind: inDefined}
	isOpaque   = input{kind: inOpaque}
	dropped    = input{kind: inDropped}
	isRefused  = input{kind: inRefused}
	broken     = input{kind: inBroken}
	due        = input{kind: inDue}
	found      = input{kind: inFound}
	nothingYet = input{kind: inMissed}
)

func TestMachineAnswers(t *testing.T) {
	served := action{op: doAnswer, answer: Served, version: "v1"}
	deleted := action{op: doAnswer, answer: Deleted}
	for name, c := range map[string]struct {
		word []input
		want action
	}{
		"a 404 asks for the definition":                     {[]input{missed}, action{op: doDefine}},
		"a definition comes":                                {[]input{nothingYet, undefined, lacks, defined}, served},
		"a definition comes, established later":             {[]input{nothingYet, undefined, unready, defined}, served},
		"a definition that waits asks no discovery":         {[]input{nothingYet, unready}, action{op: doListen}},
		"a definition is deleted":                           {[]input{missed, unready, dropped}, deleted},
		"a definition is deleted, of which nothing is left": {[]input{nothingYet, unready, dropped}, action{op: doListen}},
		"a definition was there, and is not listed":         {[]input{missed, unready, broken, due, undefined}, deleted},
		"a definition was there at the last absence":        {[]input{missed, defined, found, missed, undefined}, deleted},
		"a definition that nobody saw asks discovery":       {[]input{missed, undefined}, action{op: doDiscover}},
		"one discovery is no proof":                         {[]input{missed, undefined, lacks}, action{op: doPause, attempt: 1}},
		"two discoveries are":                               {[]input{missed, undefined, lacks, due, lacks}, deleted},
		"two discoveries, without the right to definitions": {[]input{missed, isRefused, lacks, due, lacks}, deleted},
		"not in a row":                                      {[]input{missed, undefined, lacks, due, failing, due, missed, undefined, lacks}, action{op: doPause, attempt: 1}},
		"nor over two absences":                             {[]input{missed, isRefused, lacks, due, has, missed, isRefused, lacks}, action{op: doPause, attempt: 1, alone: true}},
		"nor without objects":                               {[]input{nothingYet, isRefused, lacks, due, lacks}, action{op: doPause, attempt: 2, alone: true}},
		"nor where the definition is there":                 {[]input{missed, isOpaque, lacks, due, lacks}, action{op: doPause, attempt: 2}},
		"a deletion is told once":                           {[]input{missed, unready, dropped, nothingYet, undefined}, action{op: doListen}},
		"discovery has it":                                  {[]input{missed, isRefused, has}, served},
		"it is said to be there, and is not":                {[]input{missed, defined, missed, defined}, action{op: doRetry, attempt: 1}},
		"again":                                             {[]input{missed, defined, missed, defined, due, missed, defined}, action{op: doRetry, attempt: 2}},
		"it was found between":                              {[]input{missed, defined, found, missed, defined}, served},
		"nobody may say anything":                           {[]input{missed, isRefused, failing}, action{op: doAnswer, answer: Unknowable}},
		"nobody can say anything":                           {[]input{missed, broken}, action{op: doAnswer, answer: Unknowable}},
		"only the definition may be asked":                  {[]input{nothingYet, undefined, failing}, action{op: doRetry, attempt: 4}},
		"the definition comes meanwhile":                    {[]input{nothingYet, undefined, failing, defined}, served},
		"only that it is there may be asked":                {[]input{nothingYet, undefined, failing, isOpaque, failing}, served},
		"news without versions begins the pauses anew":      {[]input{nothingYet, undefined, lacks, due, lacks, isOpaque, lacks}, action{op: doPause, attempt: 1}},
		"a list that shows it again is no news":             {[]input{nothingYet, isOpaque, lacks, due, lacks, broken, due, isOpaque, lacks}, action{op: doPause, attempt: 3}},
		"an event is no news while it is retried":           {[]input{missed, defined, missed, defined, defined}, action{}},
		"a watch that broke is paused for":                  {[]input{missed, undefined, broken}, action{op: doPause, attempt: 1}},
		"longer the second time":                            {[]input{missed, undefined, broken, due, undefined, broken}, action{op: doPause, attempt: 2}},
		"unless it lasted":                                  {[]input{missed, undefined, broken, due, undefined, {kind: inBroken, lasted: true}}, action{op: doPause, attempt: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine{wanted: "v1"}
			require.Equal(t, c.want, play(&m, c.word...))
		})
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		follows bool
		served  []string
		want    string
	}{
		{false, []string{"v1"}, "v1"},
		{false, []string{"v2"}, ""},
		{false, nil, ""},
		{true, nil, ""},
		{true, []string{"v2", "v1"}, "v1"},
		{true, []string{"v3beta1", "v2", "v3alpha1"}, "v2"},
	} {
		got, ok := choose("v1", c.follows, c.served)
		require.Equal(t, c.want, got, "%+v", c)
		require.Equal(t, c.want != "", ok)
	}
}
