package main

import (
	"io"
	"log"
	"strings"
)

// columns are wide enough for most values.
const columns = "%-19s  %-7s  %-45s  %-9s  %-15s  %s"

// wide prints events in columns, below a header.
func wide(w io.Writer) func(event) {
	out := log.New(w, "", 0)
	headed := false
	return func(e event) {
		if !headed {
			headed = true
			out.Printf(columns, "TIME", "EVENT", "POD", "PHASE", "NODE", "CHANGED")
		}
		out.Printf(columns, e.at.Format("2006/01/02 15:04:05"), e.kind, e.pod.Namespace+"/"+e.pod.Name,
			orDash(string(e.pod.Status.Phase)), orDash(e.pod.Spec.NodeName), orDash(remark(e)))
	}
}

// remark returns the text of the last column.
func remark(e event) string {
	switch {
	case e.initial:
		return "initial"
	case e.lost:
		return "lost"
	default:
		return strings.Join(e.changed, ",")
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
