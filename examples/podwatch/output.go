package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/informer"
)

// change is an event: a change of a pod.
type change = informer.Change[*corev1.Pod]

// record is an event as JSON. Programs rely on its fields: do not remove or change any. After a deletion,
// they show the pod's last state.
type record struct {
	Time            time.Time         `json:"time"`  // when the handler was called
	Event           string            `json:"event"` // added, updated or deleted
	Namespace       string            `json:"namespace"`
	Name            string            `json:"name"`
	UID             string            `json:"uid"`
	ResourceVersion string            `json:"resourceVersion"`
	Phase           string            `json:"phase"` // such as Running
	Ready           bool              `json:"ready"`
	Node            string            `json:"node"` // "" if the pod has none yet
	Labels          map[string]string `json:"labels"`
	Changed         []string          `json:"changed"` // by an update: some of labels, phase and ready; or resync; or other
	Initial         bool              `json:"initial"` // the pod existed before podwatch started
	Lost            bool              `json:"lost"`    // a list lacked the pod; its deletion was not observed
}

// lines has the lines of text, with a place for the pod's name.
var lines = map[informer.Kind]string{
	informer.Added:   "New Pod Added to Store: %[1]s",
	informer.Updated: "%[1]s Pod Updated to %[1]s",
	informer.Deleted: "Pod Deleted from Store: %[1]s",
}

// output returns a function that prints events, and the writer of the summary. With JSON, only objects go to
// stdout.
func (o *options) output(stdout, stderr io.Writer) (show func(change), summary io.Writer) {
	if o.json {
		out := json.NewEncoder(stdout)
		return func(c change) { _ = out.Encode(newRecord(c, time.Now())) }, stderr // fails only if the output is closed
	}
	out := log.New(stdout, "", log.LstdFlags)
	return func(c change) { out.Printf(lines[c.Kind], subject(c).Name) }, stdout
}

// subject returns the pod in its current state, or a deleted pod in its last state.
func subject(c change) *corev1.Pod {
	if c.Kind == informer.Deleted {
		return c.Old
	}
	return c.New
}

func newRecord(c change, at time.Time) record {
	pod := subject(c)
	r := record{
		Time: at.UTC(), Event: c.Kind.String(),
		Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), ResourceVersion: pod.ResourceVersion,
		Phase: string(pod.Status.Phase), Ready: ready(pod), Node: pod.Spec.NodeName, Labels: pod.Labels,
		Changed: changes(c), Initial: c.Initial, Lost: c.Lost,
	}
	if r.Labels == nil {
		r.Labels = map[string]string{} // not null
	}
	return r
}

// changes summarizes an update.
func changes(c change) []string {
	changed := []string{}
	if c.Kind != informer.Updated {
		return changed
	}
	if !maps.Equal(c.Old.Labels, c.New.Labels) {
		changed = append(changed, "labels")
	}
	if c.Old.Status.Phase != c.New.Status.Phase {
		changed = append(changed, "phase")
	}
	if ready(c.Old) != ready(c.New) {
		changed = append(changed, "ready")
	}
	switch {
	case c.Old.ResourceVersion == c.New.ResourceVersion:
		return []string{"resync"}
	case len(changed) == 0:
		return []string{"other"}
	}
	return changed
}

// ready reports whether a pod is ready.
func ready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// tally counts the events of each kind.
type tally map[string]int

func (t tally) count(c change) {
	t[c.Kind.String()]++
	if slices.Contains(changes(c), "resync") {
		t["resync"]++
	}
}

// summarize prints the numbers of events, and the status of the informer.
func (t tally) summarize(w io.Writer, s informer.Status, ran time.Duration) {
	out := log.New(w, "", 0)
	resyncs := ""
	if t["resync"] > 0 {
		resyncs = fmt.Sprintf(" (%d by resyncs)", t["resync"])
	}
	out.Printf("\npodwatch ran for %v", ran.Round(time.Millisecond))
	out.Printf("  events     %d: %d added, %d updated%s, %d deleted", t["added"]+t["updated"]+t["deleted"], t["added"], t["updated"], resyncs, t["deleted"])
	if s.Synced {
		out.Printf("  store      %s at resourceVersion %s", count(s.Objects, "pod"), s.Version)
		out.Printf("  synced     after %v", s.SyncTook.Round(time.Millisecond))
		out.Printf("  staleness  %v since the server last sent anything", s.Staleness.Round(time.Millisecond))
	} else {
		out.Print("  synced     no")
	}
	out.Printf("  relists    %d", s.Relists)
	out.Printf("  errors     %d", s.Errors)
	if s.LastError != nil {
		out.Printf("  last error %s", demo.OneLine(s.LastError))
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
