// Command table makes of benchstat's medians the tables of the root README. It reads the output of benchstat
// -format csv -col /impl, and prints the tables; with -readme it writes them into their place in the file.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"
)

// place is where the tables stand in the README.
var place = report.Place{Name: "e2e-bench", Command: "make e2e-bench"}

func main() {
	readme := flag.String("readme", "", "write the tables into the `file`")
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
	text := report.Machine(config, place.Command) + "\n" + tables(medians)
	if readme != "" {
		return place.Write(readme, text)
	}
	_, err = io.WriteString(to, text)
	return err
}
