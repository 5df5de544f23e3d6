package informer

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/internal/ownwrites"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// newest asks the sources for their newest versions, for callers that share a question. An
// answer is as new as the beginning of its question, so a caller shares only one that has not begun: while
// one is under way, all who come wait for the next.
type newest struct {
	mu   sync.Mutex
	last *question
}

// question asks each source once, and again as long as that fails and somebody waits.
type question struct {
	ctx  context.Context // ends with the run, and when nobody waits any more
	end  context.CancelFunc
	done chan struct{}

	// newest.mu guards these.
	callers  int
	begun    bool  // or given up: nobody can share it
	err      error // of the last attempt
	versions []string
}

// ask returns the newest version of each source. If ctx or the run ends first, it returns nil, and the
// error of the last attempt, if there was one.
func (n *newest) ask(ctx context.Context, c *core) (versions []string, failed error) {
	q := n.join(c)
	defer n.leave(q)
	select {
	case <-q.done:
	case <-ctx.Done():
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return q.versions, q.err
}

// join returns a question that begins after the call.
func (n *newest) join(c *core) *question {
	n.mu.Lock()
	defer n.mu.Unlock()
	if before := n.last; before == nil || before.begun {
		n.last = &question{done: make(chan struct{})}
		n.last.ctx, n.last.end = context.WithCancel(c.run.Context)
		go n.answer(n.last, before, c)
	}
	n.last.callers++
	return n.last
}

func (n *newest) leave(q *question) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if q.callers--; q.callers == 0 {
		q.begun = true
		q.end()
	}
}

// answer asks the sources, once the question before has been answered. A source that ends the goroutine
// ends the run.
func (n *newest) answer(q, before *question, c *core) {
	defer close(q.done)
	defer q.end()
	if before != nil {
		<-before.done
	}
	n.mu.Lock()
	q.begun = true
	n.mu.Unlock()
	versions := make([]string, len(c.sources))
	for i, from := range c.sources {
		source := uint16(i) //nolint:gosec // at most maxSources
		since, linked := c.written.before(source)
		var err error
		if versions[i], err = n.persist(q, from); err != nil {
			if errors.Is(err, ErrExited) {
				c.exit(err)
			}
			return
		}
		if linked {
			c.date(source, ownwrites.Answer{Kind: ownwrites.Dated, Version: versions[i], Before: since})
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	q.versions = versions
}

// date passes on that a source has reached a version since a moment, and waits until the processLoop knows:
// the deletions at unknown versions before that moment have happened before that version.
func (c *core) date(source uint16, a ownwrites.Answer) {
	on := &answer{Answer: a, applied: make(chan struct{})}
	if c.queue.Push(c.run.Context, deltafifo.Delta{Op: deltafifo.Answered, Source: source, Object: on}) != nil {
		return
	}
	select {
	case <-on.applied:
	case <-c.run.Context.Done():
	}
}

// persist asks one source until it answers. The pauses are those of a list that fails.
func (n *newest) persist(q *question, source reflector.Source) (version string, err error) {
	pause := wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 6, Cap: 30 * time.Second}
	for {
		if version, err = reflector.Newest(q.ctx, source); err == nil || q.ctx.Err() != nil || errors.Is(err, ErrExited) {
			return version, err
		}
		n.mu.Lock()
		q.err = err
		n.mu.Unlock()
		timer := time.NewTimer(pause.Step())
		select {
		case <-timer.C:
		case <-q.ctx.Done():
			timer.Stop()
			return "", err
		}
	}
}
