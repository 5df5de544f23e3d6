package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// some is results as of a run.
func some() []result {
	return []result{
		{
			work:    work{name: "list/all", title: "list of all", short: "list <all>", unit: inTime, bar: bar{native: 6}},
			samples: map[implementation][]sample{clientgo: {{value: 600, wall: 600, bytes: 8, mallocs: 1}}, native: {{value: 50, wall: 50}, {value: 70, wall: 70}}},
			medians: map[implementation]sample{clientgo: {value: 600, wall: 600, bytes: 8, mallocs: 1}, native: {value: 50, wall: 50}},
		},
		{
			work:    work{name: "idle", title: "idle informers", unit: inBytes},
			samples: map[implementation][]sample{native: {{value: 1234567}}},
			medians: map[implementation]sample{clientgo: {value: 2e6}, native: {value: 1234567}},
		},
	}
}

func TestReadmeGetsTableAndChart(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("a/b", 0o755))
	require.NoError(t, os.WriteFile("README.md", []byte("before\n"+place.Begin()+"old\n"+place.End()+"after\n"), 0o644))
	t.Chdir("a/b")

	for range 2 { // the second time over what the first has written
		require.NoError(t, writeReadme("../../README.md", "a machine\n", some()))
		text, err := os.ReadFile("../../README.md")
		require.NoError(t, err)
		require.Equal(t, "before\n"+place.Begin()+"![How many times client-go's cost is tidemark's](a/b/bench.svg)\n\na machine\n\n"+
			table(some())+place.End()+"after\n", string(text))
		drawn, err := os.ReadFile(chartFile)
		require.NoError(t, err)
		require.Equal(t, chart(some()), string(drawn))
	}
}

func TestReadmeWithoutAPlaceIsLeftAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, text := range []string{"none\n", place.End() + place.Begin(), place.Begin()} {
		require.NoError(t, os.WriteFile("README.md", []byte(text), 0o644))
		require.ErrorIs(t, writeReadme("README.md", "", some()), report.ErrNoPlace)
		kept, err := os.ReadFile("README.md")
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
		require.NoFileExists(t, chartFile)
	}
}

func TestReadmeTakesTheWholeTableOnly(t *testing.T) {
	t.Setenv("TIDEMARK_VERIFY", "") // with it, nothing would be measured
	whole, err := parse([]string{"-readme", "../../../README.md"})
	require.NoError(t, err)
	require.Equal(t, "make bench", whole.command([]string{"-readme", "../../../README.md"}))
	for _, flags := range [][]string{{"-only", "get"}, {"-impl", "native"}, {"-scale"}, {"-cpuprofile", "f"}, {"-memprofile", "f"}} {
		_, err := parse(append(flags, "-readme", "README.md"))
		require.ErrorContains(t, err, "-readme", "%v", flags)
		_, err = parse(flags)
		require.NoError(t, err, "%v", flags)
	}
}

// The chart has a bar for each figure of the work that has a short title.
func TestChartIsDrawn(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(chart(some())))
	bars, texts := 0, ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "rect" {
				bars++
			}
		case xml.CharData:
			texts += string(token)
		}
	}
	require.Equal(t, len(ours)+1, bars, "of the legend, and one")
	require.Contains(t, texts, "list <all>")
	require.Contains(t, texts, "12x")
	require.Contains(t, texts, "100x", "the end of the scale")
	require.NotContains(t, texts, "idle")
}

func TestSamplesAreWrittenForBenchstat(t *testing.T) {
	file := filepath.Join(t.TempDir(), "samples")
	require.NoError(t, appendBenchmarks(file, some()))
	require.NoError(t, appendBenchmarks(file, some()))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	once := `BenchmarkList/all/by=client-go 1 600 ns/op 8 B/op 1 allocs/op
BenchmarkList/all/by=native 1 50 ns/op 0 B/op 0 allocs/op
BenchmarkList/all/by=native 1 70 ns/op 0 B/op 0 allocs/op
BenchmarkIdle/by=native 1 1.23457e+06 bytes/op
`
	require.Equal(t, once+once, string(text))
}
