package testutil

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shownBehind returns the first Go code in the README behind a text, given as a regular expression.
func shownBehind(t *testing.T, text string) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)" + text + ".*?```go\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, shown, "the README shows no program behind %s", text)
	return string(shown[1])
}

// TestReadmeShowsQuickstart compares the program in the README with examples/quickstart.
func TestReadmeShowsQuickstart(t *testing.T) {
	shown := shownBehind(t, "## Use it\n")
	quickstart, err := os.ReadFile("../../examples/quickstart/main.go")
	require.NoError(t, err)
	require.Contains(t, string(quickstart), shown)
	require.LessOrEqual(t, bytes.Count(quickstart, []byte("\n")), 80, "the first example is one that a person can copy")
}

// TestReadmeShowsTheQuestion compares the README's question for references with examples/controllerruntime.
func TestReadmeShowsTheQuestion(t *testing.T) {
	shown := shownBehind(t, "Who refers to this Secret")
	program, err := os.ReadFile("../../examples/controllerruntime/secrets.go")
	require.NoError(t, err)
	require.Contains(t, string(program), shown)
}

// TestReadmeShowsTheController compares the functions of the README's second program with examples/controller.
func TestReadmeShowsTheController(t *testing.T) {
	shown := shownBehind(t, "From \\[examples/controller\\]")
	var program []byte
	for _, file := range []string{"controller.go", "summary.go"} {
		text, err := os.ReadFile("../../examples/controller/" + file)
		require.NoError(t, err)
		program = append(program, text...)
	}
	for function := range strings.SplitSeq(shown, "\n\n") {
		require.Contains(t, string(program), function)
	}
}
