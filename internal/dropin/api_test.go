package dropin

import (
	"flag"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "update the files of the exported API")

// Two files record the API: api/tidemark.txt lists all exported names, and api/removed.txt lists the
// declarations of the last release that were removed or changed.
const (
	exportedFile = root + "/api/tidemark.txt"
	removedFile  = root + "/api/removed.txt"

	exportedHead = "# Every exported name, as `make api` writes it.\n"
	removedHead  = "# Declarations of the last release that are gone or changed, as `make api` writes them.\n# CHANGELOG names each under \"Breaking\". A release empties this file.\n"
)

// exportedAPI lists the API of all packages that users can import.
func exportedAPI(t *testing.T) []string {
	t.Helper()
	all := load(t, "./...")
	maps.DeleteFunc(all, func(path string, p *types.Package) bool {
		parts := strings.Split(path, "/")
		return p.Name() == "main" || slices.Contains(parts, "internal") || slices.Contains(parts, "examples")
	})
	return listingOf(all)
}

func TestAPIIsWrittenDown(t *testing.T) {
	now := exportedAPI(t)
	require.Greater(t, len(now), 500, "the API was not read")
	if *rewrite {
		var gone []string
		if released(changelog(t)) {
			gone = removed(read(t, removedFile), read(t, exportedFile), now)
		}
		write(t, removedFile, removedHead, gone)
		write(t, exportedFile, exportedHead, now)
	}
	for _, line := range without(read(t, exportedFile), now) {
		t.Errorf("removed or changed: %s", line)
	}
	for _, line := range without(now, read(t, exportedFile)) {
		t.Errorf("new: %s", line)
	}
	if t.Failed() {
		t.Error("the exported API differs from api/tidemark.txt: run make api, and review its changes")
	}
}

// CHANGELOG names each declaration that was removed or changed since the last release.
func TestBreakingChangesAreInTheChangelog(t *testing.T) {
	text := changelog(t)
	if !released(text) {
		require.Empty(t, read(t, removedFile), "declarations that were never released cannot be removed: run make api")
		t.Skip("there is no release yet")
	}
	for _, name := range unmentioned(read(t, removedFile), text) {
		t.Errorf("`%s` is gone or changed, and CHANGELOG.md does not name it under \"### Breaking\" of \"## [Unreleased]\"", name)
	}
	for _, line := range read(t, removedFile) {
		require.NotContains(t, read(t, exportedFile), line, "the declaration is back")
	}
}

func changelog(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	return string(text)
}

// released reports whether there is a release. Each has a section "## [0.37.0]" in the changelog. Before
// the first release, exported names may disappear without a record.
func released(changelog string) bool {
	return regexp.MustCompile(`(?m)^## \[\d`).MatchString(changelog)
}

// removed returns the lines for api/removed.txt: its previous lines and the lines that were removed from
// the API, except lines that are back.
func removed(before, was, now []string) []string {
	gone := without(append(without(was, now), before...), now)
	slices.Sort(gone)
	return slices.Compact(gone)
}

// without returns the lines that are not in others.
func without(lines, others []string) []string {
	known := make(map[string]bool)
	for _, line := range others {
		known[line] = true
	}
	var rest []string
	for _, line := range lines {
		if !known[line] {
			rest = append(rest, line)
		}
	}
	return rest
}

// unmentioned returns the subjects of lines that are not in the changelog.
func unmentioned(lines []string, changelog string) []string {
	_, text, _ := strings.Cut(changelog, "\n## [Unreleased]\n")
	text, _, _ = strings.Cut(text, "\n## ")
	_, text, _ = strings.Cut(text, "\n### Breaking\n")
	text, _, _ = strings.Cut(text, "\n### ")
	var names []string
	for _, line := range lines {
		if name := subject(line); !strings.Contains(text, "`"+name+"`") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// read returns the lines of a file, without its comments.
func read(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" || strings.HasPrefix(line, "#") })
}

func write(t *testing.T, file, head string, lines []string) {
	t.Helper()
	text := head
	for _, line := range lines {
		text += line + "\n"
	}
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}
