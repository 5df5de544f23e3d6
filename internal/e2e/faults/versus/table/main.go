// Command table makes of benchstat's medians the tables of the root README.
package main

import "github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"

// place is where the tables stand in the README.
var place = report.Place{Name: "e2e-bench", Command: "make e2e-bench"}

func main() { place.Main(tables, nil) }
