package measure

import (
	"slices"
	"time"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer/internal/eventlog"
)

const (
	// MostSlow is the largest number of slow calls kept for a handler.
	MostSlow = 5
	// KeepFor is how long slow calls are kept, and the duration of a history.
	KeepFor = 15 * time.Minute
)

// slowCalls are the slowest calls of a handler, the slowest first.
type slowCalls []slowCall

type slowCall struct {
	key      indexer.Key
	at, took time.Duration
}

// add adds a call if it is one of the slowest. It drops old calls first.
func (s *slowCalls) add(subject eventlog.Subject, at, took time.Duration) {
	s.forget(at + took)
	calls := *s
	if len(calls) == MostSlow {
		if took <= calls[MostSlow-1].took {
			return
		}
		calls = calls[:MostSlow-1]
	}
	i := 0
	for i < len(calls) && calls[i].took >= took {
		i++
	}
	*s = slices.Insert(calls, i, slowCall{subject.Key(), at, took})
}

// forget drops the old calls.
func (s *slowCalls) forget(now time.Duration) {
	*s = slices.DeleteFunc(*s, func(c slowCall) bool { return now-c.at > KeepFor })
}

// of returns a copy of the calls that are not too old at a time.
func (s slowCalls) of(now time.Duration) slowCalls {
	calls := slices.Clone(s)
	calls.forget(now)
	return calls
}
