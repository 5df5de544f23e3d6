package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// output is the format of the result.
type output string

const (
	outputTable output = "table"
	outputJSON  output = "json"
)

func (o *output) set(s string) error {
	switch output(s) {
	case outputTable, outputJSON:
		*o = output(s)
		return nil
	}
	return errors.New("must be table or json")
}

func (o output) print(w io.Writer, r result) error {
	if o == outputJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	_, err := io.WriteString(w, r.String())
	return err
}

// announcement describes what the program is about to do.
func (s survey) announcement(o options) string {
	var b strings.Builder
	for _, l := range s.LeftOut {
		fmt.Fprintf(&b, "left out: %s: %s\n", l.Kind, l.Reason)
	}
	if len(s.Kinds) == 0 {
		return b.String()
	}
	where := "the cluster"
	if o.demo {
		where = "the demo"
	}
	if o.namespace != "" {
		where = "namespace " + o.namespace + " of " + where
	}
	var kinds []string
	for i, k := range s.Kinds {
		kinds = append(kinds, fmt.Sprintf("%s %s", thousands(s.Objects[i]), k.Name))
	}
	fmt.Fprintf(&b, "%s: %s\n", where, strings.Join(kinds, ", "))
	fmt.Fprintf(&b, "compare will send %d lists with %s objects in total: %d lists for each kind, half of them from each library. Then both libraries will watch for %v. It changes nothing%s.\n",
		len(turns)*len(s.Kinds), thousands(len(turns)*s.total()), len(turns), o.events, map[bool]string{true: ", but the demo changes its objects"}[o.demo])
	return b.String()
}

// String formats the result as a table.
func (r result) String() string {
	var b strings.Builder
	wide := len("kind")
	for _, k := range r.Kinds {
		wide = max(wide, len(k.Kind))
	}
	fmt.Fprintf(&b, "%-*s  %-8s  %10s  %10s\n", wide, "kind", "read as", "objects", "events")
	for _, k := range r.Kinds {
		fmt.Fprintf(&b, "%-*s  %-8s  %10s  %10s\n", wide, k.Kind, k.Reading, k.Objects, k.Events)
	}
	for _, l := range r.LeftOut {
		fmt.Fprintf(&b, "%-*s  left out: %s\n", wide, l.Kind, l.Reason)
	}
	theirs, ours := r.ClientGo, r.Tidemark
	events := "too few events"
	if r.Ratios.EventsCPU != nil {
		events = decimals(*r.Ratios.EventsCPU)
	}
	b.WriteByte('\n')
	row := func(name, clientGo, tidemark, ratio string) {
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%-22s  %10s  %10s  %s", name, clientGo, tidemark, ratio), " "))
	}
	row("", "client-go", "tidemark", "tidemark/client-go")
	row("objects", thousands(theirs.Objects), thousands(ours.Objects), "")
	row("heap", megabytes(theirs.HeapBytes), megabytes(ours.HeapBytes), decimals(r.Ratios.Heap))
	row("peak RSS", megabytes(theirs.PeakRSSBytes), megabytes(ours.PeakRSSBytes), decimals(r.Ratios.PeakRSS))
	row("CPU of the sync", seconds(theirs.SyncCPUSeconds), seconds(ours.SyncCPUSeconds), decimals(r.Ratios.SyncCPU))
	row(fmt.Sprintf("CPU of %g s of events", r.EventSeconds), seconds(theirs.EventsCPUSeconds), seconds(ours.EventsCPUSeconds), events)
	row("events", thousands(theirs.Events), thousands(ours.Events), "")
	fmt.Fprintf(&b, "\n%s\n", r.About)
	for _, d := range r.Differences {
		fmt.Fprintf(&b, "DIFFERENT %s\n", d)
	}
	return b.String()
}

// String returns a single number if both are equal.
func (p pair) String() string {
	if p.equal() {
		return thousands(p.ClientGo)
	}
	return thousands(p.ClientGo) + "|" + thousands(p.Tidemark)
}

// thousands formats a number like 20,000.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func megabytes(n uint64) string     { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
func seconds(s float64) string      { return fmt.Sprintf("%.2f s", s) }
func decimals(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }
