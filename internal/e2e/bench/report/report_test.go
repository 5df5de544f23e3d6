package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var place = Place{Name: "bench", Command: "make bench"}

func TestSectionGetsIntoItsPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	other := Place{Name: "other", Command: "make other"}
	require.NoError(t, os.WriteFile(file, []byte("before\n"+other.Begin()+other.End()+place.Begin()+"old\n"+place.End()+"after\n"), 0o600))
	for range 2 { // the second time over what the first has written
		require.NoError(t, place.Write(file, "new\n"))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "before\n<!-- other: written by make other -->\n<!-- /other -->\n<!-- bench: written by make bench -->\nnew\n<!-- /bench -->\nafter\n", string(text))
	}
}

func TestFileWithoutAPlaceIsLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	for _, text := range []string{"none\n", place.End() + place.Begin(), place.Begin()} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.ErrorIs(t, place.Write(file, ""), ErrNoPlace)
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
	}
}

func TestQuoted(t *testing.T) {
	for argument, want := range map[string]string{"-rounds": "-rounds", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "^sync": "'^sync'"} {
		require.Equal(t, want, Quoted(argument))
	}
}

func TestMachineNamesTheCommand(t *testing.T) {
	require.Contains(t, Machine("make bench"), "\n\n    make bench\n")
}
