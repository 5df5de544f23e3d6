package testutil

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeIsShort checks that a newcomer reads the README in five minutes.
func TestReadmeIsShort(t *testing.T) {
	require.LessOrEqual(t, len(strings.Fields(text(t, "README.md"))), 900, "words: what is more belongs into docs, a package comment or an example")
}

// TestReadmeShowsPrograms compares all code of the README with programs that run.
func TestReadmeShowsPrograms(t *testing.T) {
	var programs string
	for _, file := range []string{"examples/quickstart/main.go", "examples/quickstart/main_test.go", "examples/controllerruntime/readme_test.go"} {
		programs += unindented(text(t, file))
	}
	shown := code(text(t, "README.md"), "go")
	require.Len(t, shown, 3)
	for _, snippet := range shown {
		require.Contains(t, programs, snippet)
	}
	require.LessOrEqual(t, strings.Count(text(t, "examples/quickstart/main.go"), "\n"), 80, "the first example is one that a person can copy")
}

// TestReadmeShowsImports compares the README's two imports with a program that runs on them.
func TestReadmeShowsImports(t *testing.T) {
	program := text(t, "factory/example_names_test.go")
	diff := code(text(t, "README.md"), "diff")
	require.Len(t, diff, 1)
	added := regexp.MustCompile(`(?m)^\+\s*(".*")$`).FindAllStringSubmatch(diff[0], -1)
	require.Len(t, added, 2)
	for _, line := range added {
		require.Contains(t, program, "\n\t"+line[1]+"\n")
	}
}

// TestMigrationShowsPrograms compares functions in docs/migrating.md with the examples that they are from.
func TestMigrationShowsPrograms(t *testing.T) {
	shown := strings.Join(code(text(t, "docs/migrating.md"), "go"), "\n")
	for _, function := range []struct{ file, name string }{
		{"examples/controller/controller.go", "func (w *wakeups) foreign("},
		{"examples/controllerruntime/main.go", "func setUpRotations("},
	} {
		_, body, found := strings.Cut(text(t, function.file), "\n"+function.name)
		require.True(t, found, function.name)
		body, _, _ = strings.Cut(body, "\n}\n")
		require.Contains(t, shown, unindented(function.name+body+"\n}\n"))
	}
}

// TestReadmesTableIsMeasured looks up the figures of the README's table in the rows that make e2e-bench has written.
func TestReadmesTableIsMeasured(t *testing.T) {
	measured := text(t, "docs/performance.md")
	_, table, found := strings.Cut(text(t, "README.md"), "\n## Performance\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| [^|]+ \| ([\d.]+ m?s) \| ([\d.]+ m?s) \| ([\d.]+ MB) \| ([\d.]+ MB) \|$`).FindAllStringSubmatch(table, -1)
	require.Len(t, rows, 5)
	for _, row := range rows {
		require.Regexp(t, `(?m)^\|.* \| `+row[1]+`, `+row[2]+`, [\d.]+x \| `+row[3]+`, `+row[4]+`, `, measured)
	}
}

// text returns a file of the repository.
func text(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	require.NoError(t, err)
	return string(text)
}

// code returns a document's blocks of code in a language, without indentation.
func code(document, language string) (blocks []string) {
	for _, block := range regexp.MustCompile("(?ms)^ *```"+language+"\n(.*?)^ *```$").FindAllStringSubmatch(document, -1) {
		blocks = append(blocks, unindented(block[1]))
	}
	return blocks
}

// unindented returns a text without the white space at both ends of its lines.
func unindented(text string) string {
	var b bytes.Buffer
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
