package readiness

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func TestExamine(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no rule"))
	broken := errors.New("connection\n refused")
	healthy := informer.Status{Running: true, Synced: true, Watching: true, Objects: 3}
	for title, c := range map[string]struct {
		change func(*informer.Status)
		want   []Finding
	}{
		"healthy":               {func(*informer.Status) {}, nil},
		"an error that is over": {func(s *informer.Status) { s.LastError = broken }, nil},
		"an error that is over, a watch reopening": {func(s *informer.Status) { s.LastError, s.Watching = broken, false }, nil},
		"one source refused, one failing": {
			func(s *informer.Status) {
				s.Watching, s.Failing = false, []informer.RecentError{{Class: reflector.ErrorConnection, Err: broken}, {Class: reflector.ErrorForbidden, Err: forbidden}}
			},
			[]Finding{{Parked, `pods is forbidden: no rule`}, {Failing, "connection refused"}},
		},
		"not started": {
			func(s *informer.Status) { *s = informer.Status{} },
			[]Finding{{NotSynced, "it has not been started"}},
		},
		"syncing": {
			func(s *informer.Status) { s.Synced, s.Watching = false, false },
			[]Finding{{NotSynced, "3 objects so far"}},
		},
		"syncing in vain": {
			func(s *informer.Status) { s.Synced, s.Watching, s.LastError = false, false, broken },
			[]Finding{{NotSynced, "connection refused"}},
		},
		"stopped": {
			func(s *informer.Status) {
				s.Running, s.Watching, s.Stopped, s.Staleness = false, false, true, time.Hour
				s.Handlers = []informer.HandlerStatus{{Name: "slow", Synced: true, Backlog: 501}}
			},
			[]Finding{{Stopped, "it has stopped"}},
		},
		"its resource is gone": {
			func(s *informer.Status) {
				s.Watching, s.NotServedSince, s.LastError, s.Staleness = false, time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), broken, time.Hour
			},
			[]Finding{{NotServed, "since 2026-01-31T12:00:00Z"}},
		},
		"refused": {
			func(s *informer.Status) {
				s.Watching, s.Failing = false, []informer.RecentError{{Class: reflector.ErrorForbidden, Err: forbidden}}
			},
			[]Finding{{Parked, `pods is forbidden: no rule`}},
		},
		"failing and stale": {
			func(s *informer.Status) {
				s.Watching, s.Failing, s.Staleness = false, []informer.RecentError{{Err: broken}}, 3*time.Minute+time.Millisecond
			},
			[]Finding{{Failing, "connection refused"}, {Stale, "the server was last heard from 3m0s ago"}},
		},
		"just not stale": {func(s *informer.Status) { s.Staleness = 2 * time.Minute }, nil},
		"stale by itself": {
			func(s *informer.Status) { s.Stale, s.Staleness = true, time.Minute },
			[]Finding{{Stale, "the server was last heard from 1m0s ago"}},
		},
		"quarantined": {
			func(s *informer.Status) {
				s.Quarantined, s.Unindexed = 1, 1
				s.UnindexedErrors = []*indexer.IndexError{{Index: "node", Key: indexer.Key{Namespace: "shop", Name: "web"}}}
			},
			[]Finding{{Quarantined, "1 object cannot be decoded or transformed; 1 object missing from an index: shop/web from node"}},
		},
		"quarantined only": {
			func(s *informer.Status) { s.Quarantined = 2 },
			[]Finding{{Quarantined, "2 objects cannot be decoded or transformed"}},
		},
		"lagging": {
			func(s *informer.Status) {
				s.Handlers = []informer.HandlerStatus{{Name: "quick", Synced: true, Backlog: 500}, {Name: "slow", Synced: true, Backlog: 501}, {Name: "late", Backlog: 20_000}}
			},
			[]Finding{{Lagging, "501 events waiting for handler slow"}},
		},
	} {
		t.Run(title, func(t *testing.T) {
			s := healthy
			c.change(&s)
			own := 2 * time.Minute
			if s.Stale {
				own = 0
			}
			require.Equal(t, c.want, Examine(s, Options{StaleAfter: own, MaxBacklog: 500}))
		})
	}
}

func TestALongReasonIsCut(t *testing.T) {
	why := oneLine(strings.Repeat("ä", longestWhy))
	require.True(t, utf8.ValidString(why))
	require.LessOrEqual(t, len(why), longestWhy+len("…"))
}
