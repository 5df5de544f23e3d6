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
