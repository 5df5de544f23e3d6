package testutil

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsQuickstart compares the program in the README with examples/quickstart.
func TestReadmeShowsQuickstart(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)## Use it\n.*?```go\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, shown, "the README shows no program")
	quickstart, err := os.ReadFile("../../examples/quickstart/main.go")
	require.NoError(t, err)
	require.Contains(t, string(quickstart), string(shown[1]))
	require.LessOrEqual(t, bytes.Count(quickstart, []byte("\n")), 80, "the first example is one that a person can copy")
}

// TestReadmeShowsTheQuestion compares the README's question for references with examples/controllerruntime.
func TestReadmeShowsTheQuestion(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)Who refers to this Secret.*?```go\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, shown, "the README asks nothing")
	program, err := os.ReadFile("../../examples/controllerruntime/secrets.go")
	require.NoError(t, err)
	require.Contains(t, string(program), string(shown[1]))
}

// TestReadmeShowsTheController compares the functions of the README's second program with examples/controller.
func TestReadmeShowsTheController(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)From \\[examples/controller\\].*?```go\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, shown, "the README shows no controller")
	var program []byte
	for _, file := range []string{"controller.go", "summary.go"} {
		text, err := os.ReadFile("../../examples/controller/" + file)
		require.NoError(t, err)
		program = append(program, text...)
	}
	for function := range bytes.SplitSeq(shown[1], []byte("\n\n")) {
		require.Contains(t, string(program), string(function))
	}
}
