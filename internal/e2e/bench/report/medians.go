package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Medians are benchstat's medians by benchmark, unit and column. The units are benchstat's ("sec/op").
// The columns are the values of one part of benchmark names ("client-go").
type Medians map[string]map[string]map[string]float64

// Of returns a figure.
func (m Medians) Of(benchmark, unit, column string) (figure float64, ok bool) {
	figure, ok = m[benchmark][unit][column]
	return figure, ok
}

// set adds a figure.
func (m Medians) set(benchmark, unit, column string, figure float64) {
	if m[benchmark] == nil {
		m[benchmark] = map[string]map[string]float64{}
	}
	if m[benchmark][unit] == nil {
		m[benchmark][unit] = map[string]float64{}
	}
	m[benchmark][unit][column] = figure
}

// procs matches GOMAXPROCS at the end of a benchmark's name.
var procs = regexp.MustCompile(`-(\d+)$`)

// ReadMedians reads the output of benchstat -format csv -col /NAME. It returns the medians and the
// configuration before them, such as "goos", plus "gomaxprocs" from the names of the benchmarks. If
// there are no medians, it returns [ErrNoMedians].
func ReadMedians(from io.Reader) (Medians, map[string]string, error) {
	r := csv.NewReader(from)
	r.FieldsPerRecord = -1
	medians, config := Medians{}, map[string]string{}
	var columns, units []string // of the current table
	for {
		record, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			if len(medians) == 0 {
				return nil, nil, ErrNoMedians
			}
			return medians, config, nil
		case err != nil:
			return nil, nil, fmt.Errorf("benchstat's table: %w", err)
		}
		switch {
		case len(record) == 1:
			key, value, _ := strings.Cut(record[0], ": ")
			config[key] = value
			columns, units = nil, nil
		case record[0] == "" && (columns == nil || units != nil):
			columns, units = record, nil
		case record[0] == "":
			units = record
		case record[0] != "geomean":
			if end := procs.FindStringSubmatch(record[0]); end != nil {
				config["gomaxprocs"] = end[1]
			}
			if err := medians.addRow(procs.ReplaceAllString(record[0], ""), record, columns, units); err != nil {
				return nil, nil, err
			}
		}
	}
}

// addRow adds the figures of a benchmark. The name of a column is above its median. There is no name
// above the spread and the comparison.
func (m Medians) addRow(benchmark string, record, columns, units []string) error {
	for i := 1; i < len(record) && i < len(columns); i++ {
		if columns[i] == "" || record[i] == "" {
			continue
		}
		figure, err := strconv.ParseFloat(record[i], 64)
		if err != nil {
			return fmt.Errorf("benchstat's table: %s: %w", benchmark, err)
		}
		m.set(benchmark, units[i], columns[i], figure)
	}
	return nil
}

// Machine describes the machine and the versions that benchmarks ran with, and how to reproduce the
// figures.
func Machine(config map[string]string, command string) string {
	return fmt.Sprintf("%s, %s/%s, GOMAXPROCS %s, %s; client-go %s.\n\n    %s\n",
		config["go"], config["goos"], config["goarch"], config["gomaxprocs"], config["cpu"], config["client-go"], command)
}
