package main

import (
	"encoding/json"
	"io"
	"time"
)

// record is an event as JSON. Programs rely on the fields, so none of them may change or be left out.
type record struct {
	Time            time.Time         `json:"time"`
	Event           kind              `json:"event"`
	Namespace       string            `json:"namespace"`
	Name            string            `json:"name"`
	UID             string            `json:"uid"`
	ResourceVersion string            `json:"resourceVersion"`
	Phase           string            `json:"phase"`
	Ready           bool              `json:"ready"`
	Node            string            `json:"node"`
	Labels          map[string]string `json:"labels"`
	Changed         []string          `json:"changed"`
	Initial         bool              `json:"initial"`
	Lost            bool              `json:"lost"`
}

// jsonLines prints events as JSON, one object a line.
func jsonLines(w io.Writer) func(event) {
	out := json.NewEncoder(w)
	return func(e event) {
		r := record{
			Time:            e.at.UTC(),
			Event:           e.kind,
			Namespace:       e.pod.Namespace,
			Name:            e.pod.Name,
			UID:             string(e.pod.UID),
			ResourceVersion: e.pod.ResourceVersion,
			Phase:           string(e.pod.Status.Phase),
			Ready:           ready(e.pod),
			Node:            e.pod.Spec.NodeName,
			Labels:          e.pod.Labels,
			Changed:         e.changed,
			Initial:         e.initial,
			Lost:            e.lost,
		}
		if r.Labels == nil {
			r.Labels = map[string]string{} // not null
		}
		if r.Changed == nil {
			r.Changed = []string{}
		}
		_ = out.Encode(r) // writing to a closed pipe ends the program anyway
	}
}
