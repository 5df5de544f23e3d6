package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

var rewrite = flag.Bool("rewrite", false, "redraw the charts of docs/performance.md")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A file gets the tables in their places.
func TestTablesAreWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "performance.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n"+place.Begin()+place.End()+shardsPlace.Begin()+shardsPlace.End()+"after\n"), 0o600))

	err := place.Make(strings.NewReader(`goos: linux
go: go1.26.8
,client-go,,tidemark,,,
,cpu-sec,CI,cpu-sec,CI,vs base,P
Pods/sync-stream-2,0.4,2%,0.1,1%,-75%,p=0.1 n=5
Pods/sync-dropped-2,,,0.2,1%,,
Pods/updates-1-2,4,2%,1,1%,-75%,p=0.1 n=5

,client-go,,tidemark,,,
,heap-B,CI,heap-B,CI,vs base,P
Pods/sync-stream-2,1e7,2%,4e6,1%,-60%,p=0.1 n=5

,client-go,,tidemark,,,
,cpu-sec/event,CI,cpu-sec/event,CI,vs base,P
Pods/updates-1-2,4e-6,2%,2e-6,1%,-50%,p=0.1 n=5
`), io.Discard, file, tables, writeRest)

	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "| sync of pods by WatchList | 400 ms, 100 ms, 4.00x | 10 MB, 4 MB, 0.40 | – | – | – | CPU ≥ 2.50x, heap ≤ 0.38, peak RSS ≤ 0.45 | missed: heap, peak RSS |\n")
	require.Contains(t, string(text), "| sync of pods, tidemark drops managedFields | 400 ms, 200 ms, 2.00x |", "client-go does the same work in both")
	require.Contains(t, string(text), "| 1,000 updates/s, 1 handler | 4 µs, 2 µs, 2.00x |")
	require.Contains(t, string(text), "go1.26.8, linux/")
	require.FileExists(t, filepath.Join(filepath.Dir(file), "performance-dark.svg"))
}

func TestTargets(t *testing.T) {
	m := report.Medians{"sync": {"cpu-sec": {theirs: 200, ours: 100}, "heap-B": {theirs: 10, ours: 4}}}
	for _, test := range []struct {
		targets         []target
		wanted, verdict string
	}{
		{nil, nothing, nothing},
		{[]target{{cpu, 2}}, "CPU ≥ 2.00x", "yes"},
		{[]target{{cpu, 2.1}, {heap, 0.39}}, "CPU ≥ 2.10x, heap ≤ 0.39", "missed: CPU, heap"},
		{[]target{{cpu, 2.1}, {heap, 0.4}}, "CPU ≥ 2.10x, heap ≤ 0.40", "missed: CPU"},
	} {
		r := row{benchmark: "sync", targets: test.targets}
		require.Equal(t, test.wanted, r.wanted())
		require.Equal(t, test.verdict, r.verdict(m))
	}
}

// Rows whose client-go work is measured in another row name an existing row.
func TestRowsNameRows(t *testing.T) {
	known := map[string]row{}
	for _, r := range append(slices.Clone(stateRows), updateRows...) {
		known[r.benchmark] = r
	}
	for benchmark, other := range sameWork {
		require.Contains(t, known, benchmark)
		require.Contains(t, known, other)
		require.NotContains(t, sameWork, other)
	}
}

// A replica is compared with one that reads everything from the same server. If the server filters, the
// replica must receive less. Otherwise it must drop foreign objects.
func TestShardTable(t *testing.T) {
	m := report.Medians{}
	set := func(benchmark string, figures map[string]float64) {
		m[benchmark] = map[string]map[string]float64{}
		for unit, figure := range figures {
			m[benchmark][unit] = map[string]float64{ours: figure}
		}
	}
	set("Shards/typed-1", map[string]float64{heap.unit: 100e6, cpu.unit: 1, receivedUnit: 80e6, calls.unit: 1000})
	set("ShardsUnfiltered/typed-1", map[string]float64{heap.unit: 100e6, cpu.unit: 2, receivedUnit: 80e6, calls.unit: 1000})
	set("Shards/typed-4", map[string]float64{heap.unit: 39e6, cpu.unit: 0.2, receivedUnit: 24e6, calls.unit: 250})
	set("ShardsUnfiltered/typed-4", map[string]float64{heap.unit: 41e6, cpu.unit: 1.2, receivedUnit: 80e6, calls.unit: 250, foreignUnit: 750})
	set("ShardsUnfiltered/typed-2", map[string]float64{heap.unit: 64e6, cpu.unit: 1.9, receivedUnit: 80e6, calls.unit: 500, foreignUnit: 499})
	require.Equal(t, `| a process with | heap | CPU of the sync | received | others' dropped | target | met? |
| --- | --- | --- | --- | --- | --- | --- |
| all pods | 100 MB | 1 s | 80 MB | 0 | – | – |
| one of 4 replicas, the server filters | 39 MB | 200 ms | 24 MB | 0 | heap ≤ 40 MB, CPU ≤ 250 ms, received ≤ 23 MB | missed: received |
| one of 2 replicas, it does not | 64 MB | 1.90 s | 80 MB | 499 | heap ≤ 65 MB, CPU ≤ 1.80 s, dropped all of 500 | missed: CPU, dropped |
| one of 4 replicas, it does not | 41 MB | 1.20 s | 80 MB | 750 | heap ≤ 40 MB, CPU ≤ 1.30 s, dropped all of 750 | missed: heap |
`, shardTable(m))
}

const committed = "../../../../../docs/performance.md"

// The committed charts show the committed table. With -rewrite, the test redraws them.
func TestChartsShowTheTable(t *testing.T) {
	if *rewrite {
		require.NoError(t, writeCharts(committed))
	}
	document, err := os.ReadFile(committed)
	require.NoError(t, err)
	for _, p := range palettes {
		drawn, err := os.ReadFile(strings.TrimSuffix(committed, ".md") + "-" + p.name + ".svg")
		require.NoError(t, err)
		require.Equal(t, chart(string(document), p), string(drawn), "redraw it with -rewrite")
	}
	for _, d := range drawn {
		require.Contains(t, rowsOf(string(document)), d.row)
	}
}

// Bars are as long as their figures say. A row without figures has no bars.
func TestChart(t *testing.T) {
	const document = "| sync of pods by WatchList | 4 s, 500 ms, 8.00x | 1 GB, 250 MB, 0.25 | – |\n| the caches of kube-controller-manager | – | – |\n"
	picture := chart(document, palettes[0])
	require.Contains(t, picture, `<rect class="theirs" x="200" y="60" width="190"`)
	require.Contains(t, picture, `<rect class="ours" x="200" y="75" width="23"`)
	require.Contains(t, picture, `<rect class="ours" x="510" y="75" width="47"`)
	require.Equal(t, 2+4, strings.Count(picture, "<rect"), "including the legend")
}
