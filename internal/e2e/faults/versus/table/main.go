// Command table makes the tables of docs/performance.md from benchstat's medians.
package main

import "github.com/tidemark-k8s/tidemark/internal/e2e/bench/report"

// place is the place of the tables of both libraries.
var place = report.Place{Name: "e2e-bench", Command: "make e2e-bench"}

func main() { place.Main(tables, writeShards) }
