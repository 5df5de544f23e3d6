// Command table makes the tables of the root README and of the benchmarks' README from benchstat's medians.
package main

import (
	"path/filepath"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// place is the place of the tables in both READMEs.
var place = report.Place{Name: "e2e-bench", Command: "make e2e-bench"}

// benchReadme is the README with all rows, as seen from the one with five.
const benchReadme = "internal/e2e/bench/README.md"

func main() { place.Main(summary, writeAll) }

func writeAll(readme, head string, m report.Medians) error {
	if err := place.Write(filepath.Join(filepath.Dir(readme), benchReadme), head+tables(m)); err != nil {
		return err
	}
	return writeShards(readme, m)
}
