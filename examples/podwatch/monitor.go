package main

import (
	"fmt"
	"log"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

const (
	// patience is how long failed requests are retried before the first sync.
	patience = 10 * time.Second
	// silence is how long the server may send nothing before the first sync. An API server
	// answers a list within a minute, or never.
	silence = 90 * time.Second
	// reminder is how often a continuing outage is reported.
	reminder = time.Minute
)

// monitor observes the informer's requests and reports to the user. Before the first sync it ends the
// program if retrying will not help. After the sync it reports when outages begin and end.
type monitor struct {
	target   target
	notes    *log.Logger
	progress *progress
	giveUp   func()
	timer    *time.Timer // for silence

	mu     sync.Mutex // guards the rest; comes before that of progress
	synced bool
	last   *problem  // of the last failure; nil if there was none
	since  time.Time // when the outage began; zero if there is none
	told   time.Time // when the outage was last reported
}

func newMonitor(c *cluster, o options, notes *log.Logger, p *progress, giveUp func()) *monitor {
	m := &monitor{
		target:   target{server: c.server, origin: c.origin, namespace: o.namespace, fields: o.fields},
		notes:    notes,
		progress: p,
		giveUp:   giveUp,
	}
	m.timer = time.AfterFunc(silence, m.silent)
	return m
}

func (m *monitor) close() { m.timer.Stop() }

// observe is the informer's Options.Observe. It replaces the informer's log.
func (m *monitor) observe(e informer.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if !m.synced {
		m.timer.Reset(silence)
	}
	switch e := e.(type) {
	case reflector.Paged:
		m.progress.came(e.Objects, e.Remaining, e.Bytes)
	case reflector.Listed:
		m.synced = true
		m.timer.Stop()
		m.progress.complete(e.Objects)
	case reflector.WatchStarted:
		m.reconnected()
	case reflector.Failed:
		m.failed(e)
	case reflector.BackedOff:
		m.backedOff(e.Delay)
	case reflector.HistoryWentBack:
		m.notes.Printf("the server's history went back from resourceVersion %s to %s; listing all pods again", e.From, e.To)
	case reflector.Skipped:
		m.notes.Printf("left out: %s", oneLine(e.Err.Error()))
	}
}

// failed handles a failed request.
func (m *monitor) failed(e reflector.Failed) {
	p := m.target.explain(e)
	m.last = &p
	switch {
	case !m.synced && p.final:
		m.giveUp()
	case !m.synced:
	case apierrors.IsResourceExpired(e.Err), apierrors.IsGone(e.Err):
		m.notes.Print("the server's history no longer reaches back to the last known version; listing all pods again")
	default:
		m.outage(p)
	}
}

// backedOff gives up if the next attempt would be too late.
func (m *monitor) backedOff(delay time.Duration) {
	if m.synced {
		return
	}
	if m.since.IsZero() {
		m.since = time.Now()
	}
	if time.Since(m.since)+delay > patience {
		m.giveUp()
	}
}

// outage reports an outage when it begins, and repeats the report every reminder.
func (m *monitor) outage(p problem) {
	if m.since.IsZero() {
		m.since, m.told = time.Now(), time.Time{}
	}
	if time.Since(m.told) >= reminder {
		m.told = time.Now()
		m.notes.Printf("%s; retrying, and keeping the known pods", p.what)
	}
}

// reconnected handles the start of a watch.
func (m *monitor) reconnected() {
	if !m.told.IsZero() {
		m.notes.Printf("reconnected after %v", rounded(time.Since(m.since)))
	}
	m.since, m.told = time.Time{}, time.Time{}
}

// silent gives up after the silence.
func (m *monitor) silent() {
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.synced {
		return
	}
	p := m.target.silent(fmt.Sprintf("no response for %v", silence))
	m.last = &p
	m.giveUp()
}

// trouble returns the last problem, or "".
func (m *monitor) trouble() string {
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.last == nil {
		return ""
	}
	return m.last.what
}

// reason returns why the pods could not be listed, and what to do.
func (m *monitor) reason() error {
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.last == nil {
		return fmt.Errorf("%s did not send the pods in time: allow more time with --for", m.target.server)
	}
	return fmt.Errorf("%s: %s", m.last.what, m.last.remedy)
}
