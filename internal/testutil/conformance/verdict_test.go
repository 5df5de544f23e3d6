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

// T is the part of *testing.T that the tests use, so that a failure can be the expected result.
type T interface {
	require.TestingT
	Helper()
	Cleanup(func())
	Context() context.Context
}

// verdict is the result of a test on a rig.
type verdict string

const (
	holds   verdict = "holds"
	fails   verdict = "fails"   // as expected
	dies    verdict = "crashes" // as expected
	skipped verdict = "-"       // has no meaning there, or does not always hold
)

// weight orders verdicts. If a test has several parts, the heaviest verdict counts.
var weight = map[verdict]int{skipped: 1, holds: 2, fails: 3, dies: 4}

// ran has the verdicts of this run by test and rig.
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
func each(t *testing.T, test func(t T, r rig)) { run(t, test, clientgoRig, sharedRig, typedRig) }

// clientgoAPI runs a test on the rigs with client-go's interface.
func clientgoAPI(t *testing.T, test func(t T, r rig)) { run(t, test, clientgoRig, sharedRig) }

// ours runs a test on our two rigs. why is the reason to skip client-go.
func ours(t *testing.T, why string, test func(t T, r rig)) {
	skipOthers(t, why)
	run(t, test, sharedRig, typedRig)
}

// typedOnly runs a test only on our typed API. why is the reason to skip client-go.
func typedOnly(t *testing.T, why string, test func(t T, r rig)) {
	skipOthers(t, why)
	run(t, test, typedRig)
}

// ourClientgoAPI runs a test only on our client-go API. why is the reason to skip client-go.
func ourClientgoAPI(t *testing.T, why string, test func(t T, r rig)) {
	skipOthers(t, why)
	run(t, test, sharedRig)
}

func skipOthers(t *testing.T, why string) {
	require.NotEmpty(t, why, "a reason to skip the other rigs is missing")
	record(t, clientgoRig, skipped)
}

func run(t *testing.T, test func(t T, r rig), rigs ...rig) {
	for _, r := range inBothModes(rigs) {
		t.Run(r.title(), func(t *testing.T) {
			bubble(t, func(t *testing.T) { test(t, r) })
			if !t.Failed() {
				record(t, r, holds)
			}
		})
	}
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, test func(t *testing.T)) { synctest.Test(t, test) }

// differs runs a test on our rigs, and on client-go, which must fail it by an assertion or a panic.
func differs(t *testing.T, test func(t T, r rig)) { differ(t, test, sharedRig, typedRig) }

// clientgoAPIDiffers is like differs, for tests of client-go's interface.
func clientgoAPIDiffers(t *testing.T, test func(t T, r rig)) { differ(t, test, sharedRig) }

func differ(t *testing.T, test func(t T, r rig), rigs ...rig) {
	run(t, test, rigs...)
	t.Run(clientgoRig.name, func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := &expectedFailure{T: t}
			r.run(func() { test(r, clientgoRig) })
			require.NotEmpty(t, r.failures, "client-go does this, too, so there is no difference")
			t.Log(errorLine(r.failures[0]))
		})
		if !t.Failed() {
			record(t, clientgoRig, fails)
		}
	})
}

// expectedFailure is the T for a test that must fail.
type expectedFailure struct {
	*testing.T
	failures []string
}

func (r *expectedFailure) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *expectedFailure) FailNow() { runtime.Goexit() }

// run calls a test in its own goroutine, which FailNow may end.
func (r *expectedFailure) run(test func()) {
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

// errorLine returns the short form of a failed assertion.
func errorLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Error:") || strings.HasPrefix(line, "panic:") {
			return line
		}
	}
	return strings.TrimSpace(s)
}

// timedOut is in the output of a process that does not end.
const timedOut = "test timed out"

const childVariable = "TIDEMARK_CONFORMANCE_CHILD"

// isChildProcess reports whether this process runs a test that must end it.
func isChildProcess() bool { return os.Getenv(childVariable) != "" }

// crashes runs a test on our rigs, and on client-go in a separate process. The output of this process
// must contain the words.
func crashes(t *testing.T, words string, test func(t T, r rig)) {
	if isChildProcess() {
		t.Run(clientgoRig.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) { test(t, clientgoRig) })
		})
		return
	}
	run(t, test, sharedRig, typedRig)
	expectDeath(t, clientgoRig, words, dies)
}

// endsProcess runs a test that ends the process on all rigs, each in a separate process.
func endsProcess(t *testing.T, words string, test func(t T, r rig)) {
	for _, r := range inBothModes(rigs) {
		if isChildProcess() {
			t.Run(r.title(), func(t *testing.T) {
				bubble(t, func(t *testing.T) { test(t, r) })
			})
		} else {
			expectDeath(t, r, words, holds)
		}
	}
}

// expectDeath verifies that a test on a rig ends the process, with the words in its output.
func expectDeath(t *testing.T, r rig, words string, v verdict) {
	t.Run(r.title(), func(t *testing.T) {
		only := "^" + regexp.QuoteMeta(strings.TrimSuffix(t.Name(), "/"+r.title())) + "$/^" + r.title() + "$"
		patience := "-test.timeout=1m"
		if words == timedOut {
			patience = "-test.timeout=3s"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // in case the process hangs
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+only, patience)
		cmd.Env = append(os.Environ(), childVariable+"=1", "KUBE_CACHE_MUTATION_DETECTOR=true")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "the process did not fail: %s", out)
		require.Contains(t, string(out), words)
		record(t, r, v)
	})
}
