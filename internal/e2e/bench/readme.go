package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// place is where the table stands in a README.
var place = report.Place{Name: "bench", Command: "make bench"}

// chartFile is the chart, beside the code that draws it.
const chartFile = "bench.svg"

// writeReadme writes the chart, and into a README the chart's place, the
// machine with the command, and the table.
func writeReadme(name, machine string, results []result) error {
	link, err := relativeTo(name, chartFile)
	if err != nil {
		return err
	}
	section := fmt.Sprintf("![How many times client-go's cost is tidemark's](%s)\n\n%s\n%s", link, machine, table(results))
	if err := place.Write(name, section); err != nil {
		return err
	}
	return os.WriteFile(chartFile, []byte(chart(results)), 0o644)
}

// relativeTo is how a file that stands elsewhere links to another.
func relativeTo(from, to string) (string, error) {
	from, err := filepath.Abs(filepath.Dir(from))
	if err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	link, err := filepath.Rel(from, to)
	return filepath.ToSlash(link), err
}
