// Command table makes of benchstat's medians the table of the README beside the benchmarks, and the chart.
package main

import (
	"os"
	"path/filepath"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// place is where the table stands in the README.
var place = report.Place{Name: "bench", Command: "make bench"}

// chartFile is the name of the chart, beside the README.
const chartFile = "bench.svg"

func main() { place.Main(table, writeChart) }

func writeChart(readme string, m report.Medians) error {
	return os.WriteFile(filepath.Join(filepath.Dir(readme), chartFile), []byte(chart(m)), 0o644)
}
