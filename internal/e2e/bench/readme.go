package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What stands between these lines of a README is written by -readme.
const (
	readmeBegin = "<!-- bench: written by make bench -->\n"
	readmeEnd   = "<!-- /bench -->\n"
)

// chartFile is the chart, beside the code that draws it.
const chartFile = "bench.svg"

// writeReadme writes the chart, and into a README the chart's place, the
// machine with the command, and the table.
func writeReadme(name, machine string, results []result) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	link, err := relativeTo(name, chartFile)
	if err != nil {
		return err
	}
	section := fmt.Sprintf("![How many times client-go's cost is tidemark's](%s)\n\n%s\n%s", link, machine, table(results))
	written, err := between(string(text), section)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := os.WriteFile(chartFile, []byte(chart(results)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(written), 0o644)
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

// between puts a section into its place in a text.
func between(text, section string) (string, error) {
	before, rest, begun := strings.Cut(text, readmeBegin)
	_, after, ended := strings.Cut(rest, readmeEnd)
	if !begun || !ended {
		return "", errMarkers
	}
	return before + readmeBegin + section + readmeEnd + after, nil
}
