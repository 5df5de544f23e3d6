package main

import (
	"fmt"
	"os"
	"strings"
)

// benchmarks is all samples in the format of Go's benchmarks, for benchstat.
func benchmarks(results []result) string {
	var b strings.Builder
	for _, r := range results {
		for i := range implementations {
			for _, s := range r.samples[i] {
				fmt.Fprintf(&b, "Benchmark%s/by=%s 1 %.6g %s/op", title(r.name), i.flag(), s.value, r.unit.name)
				if s.timed() {
					fmt.Fprintf(&b, " %.6g B/op %.6g allocs/op", s.bytes, s.mallocs)
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// title begins with a capital letter, as the names of benchmarks must.
func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// appendBenchmarks adds the samples to a file.
func appendBenchmarks(name string, results []result) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(benchmarks(results)); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
