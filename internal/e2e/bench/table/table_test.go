package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// medians is an output of benchstat.
const medians = `goos: linux
go: go1.26.8
cpu: a processor
,client-go,,typed,,,,clientgo-api,,,
,sec/op,CI,sec/op,CI,vs base,P,sec/op,CI,vs base,P
Read/all-2,6e-07,2%,5e-08,1%,-91%,p=0.1 n=5,6e-07,1%,~,p=0.8 n=5
geomean,6e-07,,5e-08,,,,6e-07,,,

,client-go,,typed,,,,clientgo-api,,,
,B/op,CI,B/op,CI,vs base,P,B/op,CI,vs base,P
Read/all-2,8,,0,,,,8,,,

,client-go,,typed,,,,clientgo-api,,,
,allocs/op,CI,allocs/op,CI,vs base,P,allocs/op,CI,vs base,P
Read/all-2,1,,0,,,,1,,,
`

func TestReadmeGetsTableAndChart(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("README.md", []byte("before\n"+place.Begin()+place.End()+"after\n"), 0o600))
	m, _, err := report.ReadMedians(strings.NewReader(medians))
	require.NoError(t, err)

	require.NoError(t, place.Make(strings.NewReader(medians), io.Discard, "README.md", table, writeChart))

	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Contains(t, string(text), "| 100,000 pods: list of all | 600 ns | 50 ns | 600 ns | 12x; 1x | 1 (8 B); 0; 1 (8 B) | typed 10x; client-go's API 1.50x | missed: client-go's API |")
	require.Contains(t, string(text), "go1.26.8, linux/")
	drawn, err := os.ReadFile(chartFile)
	require.NoError(t, err)
	require.Equal(t, chart(m), string(drawn))
}

func TestBarsAreMetByTheAPIsTheyAsk(t *testing.T) {
	m := report.Medians{"b": {
		"sec/op":    {clientgo: 100, typed: 10, clientgoAPI: 20},
		"allocs/op": {clientgo: 10, typed: 1, clientgoAPI: 2},
		"B/op":      {clientgo: 1000, typed: 800, clientgoAPI: 801},
	}}
	alone := report.Medians{"b": {"sec/op": {typed: 10}, "allocs/op": {typed: 1}}}
	for _, test := range []struct {
		target    target
		medians   report.Medians
		text, met string
	}{
		{target{}, m, "–", "–"},
		{target{typed: 10, clientgoAPI: 5}, m, "typed 10x; client-go's API 5x", "yes"},
		{target{typed: 10, clientgoAPI: 10}, m, "typed 10x; client-go's API 10x", "missed: client-go's API"},
		{target{typed: 11, clientgoAPI: 5}, m, "typed 11x; client-go's API 5x", "missed: typed"},
		{target{typed: 11}, m, "typed 11x", "missed: typed"},
		{target{typed: 11, clientgoAPI: 11}, m, "typed 11x; client-go's API 11x", "missed: typed, client-go's API"},
		{target{clientgoAPI: 5}, m, "client-go's API 5x", "yes"},
		{target{most: 20}, m, "≤ 20", "yes"},
		{target{most: 19}, m, "≤ 19", "missed: client-go's API"},
		{target{most: 10}, alone, "≤ 10", "yes"},
		{target{typed: 10}, alone, "typed 10x", "–"},
		{target{allocs: new(1.0)}, m, "≤ 1 allocations", "missed: client-go's API"},
		{target{typed: 10, allocs: new(1.0)}, m, "typed 10x; ≤ 1 allocations", "yes"},
		{target{typed: 10, clientgoAPI: 5, bytes: 0.8}, m, "typed 10x; client-go's API 5x; ≤ 80 % of the bytes", "missed: client-go's API"},
		{target{bytes: 0.8}, alone, "≤ 80 % of the bytes", "–"},
	} {
		r := row{benchmark: "b", unit: wall, target: test.target}
		require.Equal(t, test.text, test.target.text(report.Count))
		require.Equal(t, test.met, r.met(test.medians), "%+v", test.target)
	}
}

// The chart has a bar for each figure of the rows with short titles.
func TestChartIsDrawn(t *testing.T) {
	m, _, err := report.ReadMedians(strings.NewReader(medians))
	require.NoError(t, err)
	d := xml.NewDecoder(strings.NewReader(chart(m)))
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
	require.Equal(t, 2*len(ours), bars, "the legend, and one row")
	require.Contains(t, texts, "list all")
	require.Contains(t, texts, "12x")
	require.Contains(t, texts, "100x", "the end of the scale")
}
