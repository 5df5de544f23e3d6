package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

func TestComparisonCanFail(t *testing.T) {
	failed := map[string]string{"a": "broke", "b": "broke"}
	require.Empty(t, compare(failed, map[string]string{"a": "why"}, map[string]string{"b": "why", "c": "why"}))
	require.Equal(t, []string{"b fails, and is no exception:\n\tbroke"}, compare(failed, map[string]string{"a": "why"}, nil))
	require.Equal(t, []string{"c is listed as an exception, but does not fail"},
		compare(failed, map[string]string{"a": "why", "b": "why", "c": "why"}, nil))
}

// A unit that needs something unexported is left out, and so is every unit that needs such a unit.
func TestWhatNeedsTheUnexportedIsLeftOut(t *testing.T) {
	s, err := load(folders[0])
	require.NoError(t, err)
	inside := make(map[string]bool)
	for _, u := range s.units {
		if u.kind == aTest {
			inside[u.names[0].Name()] = u.uses == unexported
		}
	}
	require.Greater(t, s.tests(fromOutside), 80)
	require.False(t, inside["TestWatchList"], "it uses only exported names")
	require.False(t, inside["TestIndexer"], "an interface replaces its type")
	require.True(t, inside["TestListenerResyncPeriods"], "it uses a helper")
}

func TestFilesThatDoNotCompile(t *testing.T) {
	s := &source{pkg: &packages.Package{Errors: []packages.Error{{Pos: "/cache/a_test.go:3:2", Msg: "no"}}}, broken: make(map[string]string)}
	require.NoError(t, s.findBroken())
	require.Equal(t, map[string]string{"a_test.go": "no"}, s.broken)
	s.pkg.Errors = append(s.pkg.Errors, packages.Error{Pos: "/cache/a.go:3:2", Msg: "no"})
	require.Error(t, s.findBroken(), "not a test file")
}

func TestVerdicts(t *testing.T) {
	said := []byte("=== RUN   A\n=== RUN   A/one\n    x.go:1: no\n=== RUN   A/two\n--- FAIL: A (0.00s)\n    --- FAIL: A/one (0.00s)\n    --- PASS: A/two (0.00s)\n")
	require.Equal(t, "    x.go:1: no\n", string(section(said, "A/one")))
	require.Equal(t, map[string]string{"A/one": "    x.go:1: no\n"}, verdicts(said, "A"))
	require.Equal(t, map[string]string{"B": "panic: no\n"}, verdicts([]byte("panic: no\n"), "B"))
}
