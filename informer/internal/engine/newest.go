package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tidemark-k8s/tidemark/internal/object"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// questionPatience is how long a source may take to answer with its newest version.
const questionPatience = 30 * time.Second

// newest asks the sources for their newest versions, one attempt at a time. An answer is as new as the start
// of its attempt. So callers share the next attempt, never one that has already started.
type newest struct {
	mu     sync.Mutex
	queued *attempt // the next attempt; nil without callers
	busy   bool     // a goroutine makes attempts, or pauses after a failed one
}

// attempt asks each source once. done is closed when the other fields are set. It stays open if the run ends
// first.
type attempt struct {
	done   chan struct{}
	newest []point // by source
	err    error
	failed uint16 // the source that returned err
}

// next returns an attempt that starts after the call.
func (n *newest) next(c *Core) *attempt {
	n.mu.Lock()
	defer n.mu.Unlock()

	if n.queued == nil {
		n.queued = &attempt{done: make(chan struct{})}
	}
	if !n.busy {
		n.busy = true
		go n.work(c)
	}
	return n.queued
}

// begin returns the queued attempt, or nil if work is to return.
func (n *newest) begin() *attempt {
	n.mu.Lock()
	defer n.mu.Unlock()

	a := n.queued
	n.queued, n.busy = nil, a != nil
	return a
}

// work makes attempts until none is queued or the run ends. Its pauses are those of a failed list. They
// delay later callers too, because Retry-After is meant for all requests of this kind.
func (n *newest) work(c *Core) {
	run, failures := c.run.Context, 0
	for a := n.begin(); a != nil; a = n.begin() {
		c.ask(a)
		if run.Err() != nil {
			return
		}
		close(a.done)
		if a.err == nil {
			failures = 0
			continue
		}
		failures++
		timer := time.NewTimer(reflector.RepeatAfter(failures, a.err))
		select {
		case <-timer.C:
		case <-run.Done():
			timer.Stop()
			return
		}
	}
}

// ask makes an attempt. If a source ends the goroutine, the run ends.
func (c *Core) ask(a *attempt) {
	history := c.versions.history()
	for i, from := range c.sources {
		p := point{source: uint16(i), history: history} //nolint:gosec // at most maxSources
		stored := c.reached.publishedVersion(p.source)
		if p.version, a.err = c.newestOf(from.made); object.Older(p.version, stored) {
			a.err = errSetBack // the reflector has not noticed the new history yet
		}
		if a.err != nil {
			a.failed = p.source
			c.status.unanswered(p.source, fmt.Errorf("its newest version: %w", a.err))
			if errors.Is(a.err, ErrExited) {
				c.exit(a.err)
			}
			return
		}
		a.newest = append(a.newest, p)
	}
}

// newestOf asks one source.
func (c *Core) newestOf(source reflector.Source) (version string, err error) {
	ctx, cancel := context.WithTimeoutCause(c.run.Context, questionPatience, errNoAnswer)
	defer cancel()
	return reflector.Newest(ctx, source)
}
