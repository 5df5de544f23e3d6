package conformance_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// T is what a test of the suite sees of *testing.T: all that it needs to fail,
// so that failing can be what is wanted.
type T interface {
	require.TestingT
	Helper()
	Cleanup(func())
	Context() context.Context
}

// A verdict is what the suite knows of a test on a rig.
type verdict string

const (
	holds   verdict = "holds"
	fails   verdict = "fails"   // and the test has made sure of it
	dies    verdict = "crashes" // likewise
	skipped verdict = "-"       // cannot be said there, or does not happen every time
)

// weight tells which verdict stands for a test of several parts.
var weight = map[verdict]int{skipped: 1, holds: 2, fails: 3, dies: 4}

// ran has the verdicts of this run, by test and rig.
var ran = struct {
	sync.Mutex
	verdicts map[string]map[string]verdict
}{verdicts: map[string]map[string]verdict{}}

func record(t *testing.T, r rig, v verdict) {
	name, _, _ := strings.Cut(t.Name(), "/")
	ran.Lock()
	defer ran.Unlock()
	if ran.verdicts[name] == nil {
		ran.verdicts[name] = map[string]verdict{}
	}
	if weight[v] >= weight[ran.verdicts[name][r.name]] {
		ran.verdicts[name][r.name] = v
	}
}

// each runs a test on all rigs.
func each(t *testing.T, test func(t T, r rig)) { run(t, test, clientgoRig, faceRig, nativeRig) }

// face runs a test on those that have client-go's interface.
func face(t *testing.T, test func(t T, r rig)) { run(t, test, clientgoRig, faceRig) }

// ours runs a test on both of ours, and why says why not on client-go.
func ours(t *testing.T, why string, test func(t T, r rig)) {
	not(t, why)
	run(t, test, faceRig, nativeRig)
}

// native runs a test on our native face alone, and why says why.
func native(t *testing.T, why string, test func(t T, r rig)) { not(t, why); run(t, test, nativeRig) }

// ourFace runs a test on our client-go face alone, and why says why.
func ourFace(t *testing.T, why string, test func(t T, r rig)) { not(t, why); run(t, test, faceRig) }

func not(t *testing.T, why string) {
	require.NotEmpty(t, why, "why not on the others")
	record(t, clientgoRig, skipped)
}

func run(t *testing.T, test func(t T, r rig), rigs ...rig) {
	for _, r := range inBothModes(rigs) {
		t.Run(r.title(), func(t *testing.T) {
			r.encodes(t)
			bubble(t, func(t *testing.T) { test(t, r) })
			if !t.Failed() {
				record(t, r, holds)
			}
		})
	}
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, test func(t *testing.T)) { synctest.Test(t, test) }

// differs runs a test on ours, and on client-go, where it has to fail: by an
// assertion or by a panic.
func differs(t *testing.T, test func(t T, r rig)) { differ(t, test, faceRig, nativeRig) }

// faceDiffers is differs for what only client-go's interface can say.
func faceDiffers(t *testing.T, test func(t T, r rig)) { differ(t, test, faceRig) }

func differ(t *testing.T, test func(t T, r rig), rigs ...rig) {
	run(t, test, rigs...)
	t.Run(clientgoRig.name, func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := &refuted{T: t}
			r.run(func() { test(r, clientgoRig) })
			require.NotEmpty(t, r.failures, "client-go does this too: then it is no difference")
			t.Log(firstLine(r.failures[0]))
		})
		if !t.Failed() {
			record(t, clientgoRig, fails)
		}
	})
}

// refuted is the T of a test that has to fail.
type refuted struct {
	*testing.T
	failures []string
}

func (r *refuted) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *refuted) FailNow() { runtime.Goexit() }

// run calls a test on a goroutine of its own, which FailNow can end.
func (r *refuted) run(test func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		test()
	}()
	<-ended
}

// firstLine is what an assertion says in short.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Error:") || strings.HasPrefix(line, "panic:") {
			return line
		}
	}
	return strings.TrimSpace(s)
}

// hangs are the last words of a process that never ends.
const hangs = "test timed out"

const childVariable = "TIDEMARK_CONFORMANCE_CHILD"

// isChild tells whether this process was made to die.
func isChild() bool { return os.Getenv(childVariable) != "" }

// crashes runs a test on ours, and on client-go in a process of its own, which
// has to end in the given words.
func crashes(t *testing.T, words string, test func(t T, r rig)) {
	if isChild() {
		t.Run(clientgoRig.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) { test(t, clientgoRig) })
		})
		return
	}
	run(t, test, faceRig, nativeRig)
	perish(t, clientgoRig, words, dies)
}

// dying runs a test that ends the process, on all rigs, in processes of their
// own.
func dying(t *testing.T, words string, test func(t T, r rig)) {
	for _, r := range inBothModes(rigs) {
		if isChild() {
			t.Run(r.title(), func(t *testing.T) {
				r.encodes(t)
				bubble(t, func(t *testing.T) { test(t, r) })
			})
		} else {
			perish(t, r, words, holds)
		}
	}
}

// perish makes sure that a test on a rig ends the process in the given words.
func perish(t *testing.T, r rig, words string, v verdict) {
	t.Run(r.title(), func(t *testing.T) {
		only := "^" + regexp.QuoteMeta(strings.TrimSuffix(t.Name(), "/"+r.title())) + "$/^" + r.title() + "$"
		patience := "-test.timeout=1m"
		if words == hangs {
			patience = "-test.timeout=3s"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // for one that neither ends nor dies
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+only, patience)
		cmd.Env = append(os.Environ(), childVariable+"=1", "KUBE_CACHE_MUTATION_DETECTOR=true")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "it survives: %s", out)
		require.Contains(t, string(out), words)
		record(t, r, v)
	})
}
