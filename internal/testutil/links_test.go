package testutil

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestDocumentsLinkToWhatExists checks the documents' links to files and headings.
func TestDocumentsLinkToWhatExists(t *testing.T) {
	problems, err := linkProblems(os.DirFS("../.."))
	require.NoError(t, err)
	require.Empty(t, problems)
}

var (
	link    = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`) // without URLs, which contain a colon
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	quoted  = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// linkProblems returns the broken links of the documents in a tree.
func linkProblems(tree fs.FS) (problems []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name()[0] == '.' && name != ".":
			return fs.SkipDir
		case path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for _, to := range link.FindAllStringSubmatch(quoted.ReplaceAllString(string(text), ""), -1) {
			if !leadsSomewhere(tree, name, to[1], to[2]) {
				problems = append(problems, name+": "+to[0][1:])
			}
		}
		return nil
	})
	return problems, err
}

// leadsSomewhere reports whether a document's link to a file and a heading, both optional, is valid.
func leadsSomewhere(tree fs.FS, from, file, anchor string) bool {
	if file != "" {
		from = path.Join(path.Dir(from), file)
	}
	if anchor == "" {
		_, err := fs.Stat(tree, from)
		return err == nil
	}
	text, err := fs.ReadFile(tree, from)
	if err != nil {
		return false
	}
	for _, h := range heading.FindAllStringSubmatch(string(text), -1) {
		if anchorOf(h[1]) == anchor {
			return true
		}
	}
	return false
}

// anchorOf returns the anchor that GitHub assigns to a heading.
func anchorOf(heading string) string {
	kept := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}

func TestLinkRuleCanFail(t *testing.T) {
	problems, err := linkProblems(fstest.MapFS{
		"a/a.md": {Data: []byte("[a](b.md) [b](../b.md#what-is-it) [c](c.md) [d](../b.md#what) [e](#a) `f[T](x)` [f](https://g#h)\n```go\ng[T](x)\n```\n")},
		"a/b.md": {Data: []byte("")},
		"b.md":   {Data: []byte("# What, is it?\n")},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a/a.md: (c.md)", "a/a.md: (../b.md#what)", "a/a.md: (#a)"}, problems)
}
