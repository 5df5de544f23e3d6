// Command table makes the table of the benchmarks' README and the chart from benchstat's medians.
package main

import (
	"os"
	"path/filepath"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// place is the place of the table in the README.
var place = report.Place{Name: "bench", Command: "make bench"}

// chartFile is the name of the chart in the folder of the README.
const chartFile = "bench.svg"

func main() { place.Main(table, writeChart) }

func writeChart(readme, _ string, m report.Medians) error {
	return os.WriteFile(filepath.Join(filepath.Dir(readme), chartFile), []byte(chart(m)), 0o644)
}
