package debug

import (
	"bytes"
	"flag"
	"html"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "update the golden files")

func rendered(t *testing.T, single bool, all ...shownInformer) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, render(&b, report{At: now, Informers: all}, single))
	return b.String()
}

// The text of the page in each state matches a golden file, with one line for each table row.
func TestGolden(t *testing.T) {
	for name, s := range samples() {
		t.Run(name, func(t *testing.T) {
			golden(t, name, textOf(rendered(t, true, s.view())))
		})
	}
	t.Run("overview", func(t *testing.T) {
		golden(t, "overview", textOf(rendered(t, false, overview()...)))
	})
}

func overview() (all []shownInformer) {
	of := samples()
	for _, name := range slices.Sorted(maps.Keys(of)) {
		i := of[name].view()
		i.Details = nil
		all = append(all, i)
	}
	return all
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name + ".txt"
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

var (
	unread  = regexp.MustCompile(`(?s)<(head|script|thead)>.*?</(head|script|thead)>|\n`)
	cell    = regexp.MustCompile(`</(th|td|dt|b|span|title)>`)
	line    = regexp.MustCompile(`</(tr|p|div|li|h1|h2|caption|figure|header|footer)>|<table[^>]*>`)
	anyTag  = regexp.MustCompile(`<[^>]*>`)
	several = regexp.MustCompile(` +`)
)

// textOf returns the visible text of the page.
func textOf(page string) string {
	page = unread.ReplaceAllString(page, "")
	page = line.ReplaceAllString(cell.ReplaceAllString(page, " "), "\n")
	page = html.UnescapeString(anyTag.ReplaceAllString(page, ""))
	var lines []string
	for l := range strings.Lines(page) {
		if l = strings.TrimSpace(several.ReplaceAllString(l, " ")); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// The policy has the hashes of the page's style and script, and the page has no other style, script
// or event handler.
func TestPolicyFitsThePage(t *testing.T) {
	page := rendered(t, false, overview()...)
	for _, element := range []string{"style", "script"} {
		found := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(page, -1)
		require.Len(t, found, 1)
		require.Contains(t, policy, element+"-src '"+hashOf(found[0][1])+"'")
	}
	require.NotContains(t, policy, "unsafe")
	require.NotRegexp(t, `(?i)<[^>]*\s(style|on[a-z]+)=`, page)
	require.NotRegexp(t, `(?i)(src|href)="(https?:)?//`, page)
}

// Names from the server are escaped everywhere.
func TestHostileNamesAreText(t *testing.T) {
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'{{.}}` + "\u202e\n\x00"
	s := quarantined()
	s.of.name = printable(hostile)
	s.status.Version, s.status.Notes = hostile, []string{hostile}
	s.status.Handlers[0].Name, s.figures.handlers[0].Name = hostile, hostile
	s.figures.handlers[0].Slowest[0].Key.Name = hostile
	s.figures.detail.indexes[0].Name, s.figures.detail.labels[0].Name = hostile, hostile
	s.figures.detail.recent[0].Key.Name, s.figures.detail.recent[0].Version = hostile, hostile
	s.figures.detail.quarantined[0].Key.Namespace = hostile
	for _, single := range []bool{true, false} {
		page := rendered(t, single, s.view())
		require.Equal(t, 1, strings.Count(page, "<script>"))
		require.NotContains(t, page, "<img")
		require.NotContains(t, page, "\u202e")
		require.NotContains(t, page, "\x00")
	}
}
