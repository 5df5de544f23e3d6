// Command table writes the tables and the charts of docs/performance.md from benchstat's medians.
package main

import (
	"errors"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// place is the place of the tables with both libraries.
var place = report.Place{Name: "e2e-bench", Command: "make e2e-bench"}

func main() { place.Main(tables, writeRest) }

// writeRest writes the table of shards, and the charts of all tables.
func writeRest(file, head string, m report.Medians) error {
	return errors.Join(writeShards(file, head, m), writeCharts(file))
}
