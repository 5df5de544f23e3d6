package main

import (
	"fmt"
	"io"
	"log"
	"slices"
	"time"

	"github.com/tidemark-k8s/tidemark/informer"
)

// tally counts the events.
type tally struct {
	added, updated, deleted int
	resynced                int // included in updated
}

func (t *tally) count(e event) {
	switch e.kind {
	case added:
		t.added++
	case updated:
		t.updated++
	case deleted:
		t.deleted++
	}
	if slices.Equal(e.changed, []string{resynced}) {
		t.resynced++
	}
}

// String formats the number of events of each kind.
func (t *tally) String() string {
	resyncs := ""
	if t.resynced > 0 {
		resyncs = fmt.Sprintf(" (%d by resyncs)", t.resynced)
	}
	return fmt.Sprintf("%d: %d added, %d updated%s, %d deleted", t.added+t.updated+t.deleted, t.added, t.updated, resyncs, t.deleted)
}

// summarize prints the events, the time the informer ran, the time it needed to sync, its status, and
// the last problem.
func (t *tally) summarize(w io.Writer, s informer.Status, ran, synced time.Duration, trouble string) {
	out := log.New(w, "", 0)
	line := func(name, format string, args ...any) {
		out.Printf("  %-11s%s", name, fmt.Sprintf(format, args...))
	}
	out.Printf("\npodwatch ran for %v", rounded(ran))
	line("events", "%v", t)
	if !s.Synced {
		line("synced", "no")
	} else {
		line("store", "%s at resourceVersion %s", count(s.Objects, "pod"), s.Version)
		line("synced", "after %v", rounded(synced))
		line("staleness", "%v since the server last sent anything", rounded(s.Staleness))
	}
	line("relists", "%d", s.Relists)
	line("errors", "%d", s.Errors)
	if trouble != "" {
		line("last error", "%s", trouble)
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// rounded rounds a duration for display.
func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}
