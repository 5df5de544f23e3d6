// Command table makes of benchstat's medians the table of a README. It reads the output of benchstat
// -format csv -col /impl, and prints the table. With -readme it writes the table into its place in the
// file instead, and the chart beside it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// place is where the table stands in the README.
var place = report.Place{Name: "bench", Command: "make bench"}

// chartFile is the name of the chart, beside the README.
const chartFile = "bench.svg"

func main() {
	readme := flag.String("readme", "", "write the table into the `file`, and the chart beside it")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *readme); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(from io.Reader, to io.Writer, readme string) error {
	medians, config, err := report.ReadMedians(from)
	if err != nil {
		return err
	}
	text := report.Machine(config, place.Command) + "\n" + table(medians)
	if readme == "" {
		_, err := io.WriteString(to, text)
		return err
	}
	if err := place.Write(readme, "![How many times client-go's cost is tidemark's]("+chartFile+")\n\n"+text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(readme), chartFile), []byte(chart(medians)), 0o644)
}
