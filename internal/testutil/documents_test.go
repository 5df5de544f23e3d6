package testutil

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// prose is the text of a document without code blocks and generated tables.
var (
	codeBlock = regexp.MustCompile("(?ms)^ *```.*?\n *```$")
	generated = regexp.MustCompile(`(?s)<!-- [\w-]+(?:: [^>]*)? -->.*?<!-- (?:/[\w-]+|end) -->`)
	letter    = regexp.MustCompile(`\pL`)
)

// TestDocumentsAreShort limits the number of words that a person has to read. Put additional text into a
// package comment or an example.
func TestDocumentsAreShort(t *testing.T) {
	all := 0
	for name, document := range documents(t) {
		words := wordsOf(generated.ReplaceAllString(codeBlock.ReplaceAllString(document, ""), ""))
		switch lines := strings.Count(document, "\n"); name {
		case "docs/contract.md":
			require.LessOrEqual(t, words, 5000+len(regexp.MustCompile(`(?m)^\* \*\*[BDT]`).FindAllString(document, -1)), "words of %s, without the statements' numbers", name)
			continue
		case "docs/architecture.md", "CONTRIBUTING.md":
			require.LessOrEqual(t, lines, 150, "lines of %s", name)
		case "README.md":
			require.LessOrEqual(t, len(strings.Fields(document)), 900, "words of %s, including code", name)
		}
		all += words
	}
	require.LessOrEqual(t, all, 16_000, "words of all documents without the contract, code and generated tables")
}

// TestDocumentsShowPrograms compares all Go code in documents with programs that go test compiles and
// runs: those of the guides, the examples, and the examples of package comments.
func TestDocumentsShowPrograms(t *testing.T) {
	var programs strings.Builder
	for _, name := range files(t) {
		if path.Ext(name) == ".go" && (strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "docs/") || strings.HasPrefix(path.Base(name), "example")) {
			programs.WriteString("\n" + unindented(text(t, name)))
		}
	}
	for name, document := range documents(t) {
		for _, snippet := range code(document, "go") {
			require.Contains(t, programs.String(), "\n"+snippet, name)
		}
	}
	require.LessOrEqual(t, strings.Count(text(t, "examples/quickstart/main.go"), "\n"), 80, "the first example must be short enough to copy")
}

// TestGuidesBeginWithAProgram checks that each guide begins with code that its reader can run.
func TestGuidesBeginWithAProgram(t *testing.T) {
	guides := 0
	for name, document := range documents(t) {
		if path.Dir(name) != "docs/guides" || path.Base(name) == "README.md" {
			continue
		}
		guides++
		_, begin, found := strings.Cut(document, "\n```")
		require.True(t, found && strings.HasPrefix(begin, "go\n"), name)
		require.Contains(t, code(document, "go")[0], "\nfunc ", name)
	}
	require.Equal(t, 7, guides)
}

// TestEachFolderDescribesItself checks that each folder with files has a package comment or a README.
func TestEachFolderDescribesItself(t *testing.T) {
	says := map[string]bool{}
	for _, name := range files(t) {
		if strings.Contains(name, "testdata/") {
			continue
		}
		folder, base := path.Split(name)
		says[folder] = says[folder] || base == "doc.go" || base == "main.go" || base == "README.md"
	}
	for folder, said := range says {
		require.True(t, said, "%s needs a doc.go or three lines of README", folder)
	}
}

// TestReadmeShowsImports compares the README's two imports with a program that uses them.
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

// TestReadmesFiguresAreMeasured compares the README's figures with the table that make e2e-bench has
// written.
func TestReadmesFiguresAreMeasured(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| sync of pods by WatchList \| [^|]*, (\d+\.\d)\dx \| [^|]*, 0\.(\d\d) \|`).FindStringSubmatch(text(t, "docs/performance.md"))
	require.Len(t, row, 3)
	require.Contains(t, text(t, "README.md"), row[1]+"× less CPU")
	require.Contains(t, text(t, "README.md"), row[2]+"% of the heap")
}

// documents returns the Markdown files of the repository by name.
func documents(t *testing.T) map[string]string {
	all := map[string]string{}
	for _, name := range files(t) {
		if path.Ext(name) == ".md" {
			all[name] = text(t, name)
		}
	}
	return all
}

// files returns the names of the repository's files, except those in hidden folders.
func files(t *testing.T) (names []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != "." && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// text returns the content of a file of the repository.
func text(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	require.NoError(t, err)
	return string(text)
}

// wordsOf counts the words of a text. Markdown and numbers do not count.
func wordsOf(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		if letter.MatchString(word) {
			n++
		}
	}
	return n
}

// code returns a document's code blocks in a language, without indentation.
func code(document, language string) (blocks []string) {
	for _, block := range regexp.MustCompile("(?ms)^ *```"+language+"\n(.*?)^ *```$").FindAllStringSubmatch(document, -1) {
		blocks = append(blocks, unindented(block[1]))
	}
	return blocks
}

// unindented returns a text without the white space at the beginning and end of its lines.
func unindented(text string) string {
	var b bytes.Buffer
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

func TestDocumentRulesCanFail(t *testing.T) {
	const document = "# Two words\n\nOne <!-- e2e: written by x -->\n| two |\n<!-- /e2e --> three.\n\n```go\nf()\n```\n<!-- m -->\nx\n<!-- end -->\n| --- | 17 |\n"
	require.Equal(t, 4, wordsOf(generated.ReplaceAllString(codeBlock.ReplaceAllString(document, ""), "")))
	require.Equal(t, []string{"f()\n"}, code(document, "go"))
}
