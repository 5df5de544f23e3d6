package debug

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// now is the time at which the sample informers are viewed.
var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// sample is a sample informer: the inputs of its view.
type sample struct {
	of      subject
	status  informer.Status
	figures figures
}

func (s sample) view() shownInformer { return viewOf(s.of, s.status, s.figures, now) }

// healthy returns an informer of pods without problems.
func healthy() sample {
	return sample{
		of: subject{id: "pods.v1-1c9a11b2", name: "pods in shop"},
		status: informer.Status{
			Name: "pods", Running: true, Synced: true, Watching: true, WatchingSince: ago(4 * time.Minute),
			LastEvent: ago(300 * time.Millisecond), Confirmed: ago(300 * time.Millisecond), Staleness: 300 * time.Millisecond,
			Version: "812345", Objects: 12345, Relists: 1, SyncTook: 1400 * time.Millisecond,
			Totals: informer.Totals{
				Lists: 1, Streams: 1, Watches: 6, Relists: map[reflector.Cause]int{reflector.CauseStart: 1, reflector.CauseExpired: 1},
				Added: 14000, Updated: 250_000, Deleted: 1655, Bookmarks: 90, Shared: 88_000,
			},
			Handlers: []informer.HandlerStatus{{Name: "controller", Synced: true, Backlog: 2, Delivered: 265_655}, {Name: "metrics", Synced: true, Delivered: 265_655}},
		},
		figures: figures{
			handlers: []informer.HandlerMeasures{
				{Name: "controller", Lag: 12 * time.Millisecond, Sampled: 4000, Took: 200 * time.Millisecond, Slowest: []informer.SlowCall{
					{Key: indexer.Key{Namespace: "shop", Name: "web-6d4b75cb6d-000017"}, At: ago(3 * time.Minute), Took: 1340 * time.Millisecond},
					{Key: indexer.Key{Namespace: "shop", Name: "web-6d4b75cb6d-000003"}, At: ago(9 * time.Minute), Took: 220 * time.Millisecond},
				}},
				{Name: "metrics", Sampled: 4000, Took: 9 * time.Millisecond},
			},
			memory:  informer.Memory{At: ago(time.Minute), Objects: 41_200_000, Engine: 3_900_000},
			history: moments(180),
			detail: &details{
				indexes: []indexer.IndexSize{{Name: "namespace", Values: 1, Entries: 12345}, {Name: "node", Values: 120, Entries: 12001}},
				labels:  []indexer.IndexSize{{Name: "app", Values: 40, Entries: 12345}, {Name: "app", Namespaced: true, Values: 44, Entries: 12345}},
				recent: []informer.RecentEvent{
					{At: ago(70 * time.Second), Kind: informer.Added, Key: indexer.Key{Namespace: "shop", Name: "web-6d4b75cb6d-000017"}, Version: "812340"},
					{At: ago(300 * time.Millisecond), Kind: informer.Updated, Key: indexer.Key{Namespace: "shop", Name: "web-6d4b75cb6d-000003"}, Version: "812345"},
				},
			},
		},
	}
}

// moments returns a sample history in steps of 5 seconds.
func moments(n int) []informer.Moment {
	var all []informer.Moment
	for i := range n {
		all = append(all, informer.Moment{
			At: ago(time.Duration(n-1-i) * 5 * time.Second), Events: uint64(40 + i*7%90), Objects: 12000 + 2*i, Bytes: 45_000_000 + int64(i)*1000,
			Lag: time.Duration(i%7) * 100 * time.Millisecond, Staleness: time.Duration(i%5) * 100 * time.Millisecond,
		})
	}
	return all
}

func syncing() sample {
	s := healthy()
	s.of.id, s.of.name = "services.v1-1c9a11b2", "services"
	s.status = informer.Status{
		Running: true, Objects: 0, Handlers: []informer.HandlerStatus{{Name: "controller"}},
		Progress: informer.Progress{Since: ago(4 * time.Second), Objects: 20_000, Remaining: 41_000, Bytes: 92_000_000},
	}
	s.figures = figures{handlers: []informer.HandlerMeasures{{Name: "controller"}}, detail: &details{}}
	return s
}

func parked() sample {
	s := healthy()
	s.of = subject{id: "secrets.v1-1c9a11b2", name: "secrets", secret: true}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "top-secret", errors.New(`User "controller" cannot list resource "secrets"`))
	s.status.Watching, s.status.LastError = false, forbidden
	s.status.Failing = []informer.RecentError{{At: ago(7 * time.Second), Class: reflector.ErrorForbidden, Err: forbidden}}
	s.status.WatchingSince, s.status.Confirmed, s.status.Staleness = time.Time{}, ago(50*time.Second), 50*time.Second
	s.status.Errors, s.status.Totals.Errors = 3, map[reflector.ErrorClass]int{reflector.ErrorForbidden: 2, reflector.ErrorConnection: 1}
	s.status.RecentErrors = []informer.RecentError{
		{At: ago(2 * time.Hour), Class: reflector.ErrorConnection, Err: errConnection},
		{At: ago(7 * time.Second), Class: reflector.ErrorForbidden, Err: forbidden},
	}
	return s
}

var errConnection = fmt.Errorf("list: %w", &net.OpError{
	Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6443},
	Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
})

func stuck() sample {
	s := healthy()
	s.of.id, s.of.name = "nodes.v1-1c9a11b2", "nodes"
	s.status.Handlers[0].Backlog = 12_500
	s.figures.handlers[0].Calling, s.figures.handlers[0].Lag = ago(75*time.Second), 75*time.Second
	s.figures.handlers[0].Slowest = append([]informer.SlowCall{{Key: indexer.Key{Name: "node-1"}, At: ago(75 * time.Second), Took: 75 * time.Second}}, s.figures.handlers[0].Slowest...)
	return s
}

func stale() sample {
	s := healthy()
	s.of.id, s.of.name = "deployments.v1.apps-1c9a11b2", "deployments.apps in shop,team-with-a-long-name with app.kubernetes.io/managed-by=controller"
	s.status.OwnWrites = informer.OwnWrites{Linked: true, Shown: 12_345, Outside: 6, Waiting: 7, Doubtful: 2, Ghosts: 1, Pending: 3}
	s.status.Stale, s.status.Confirmed, s.status.Staleness = true, ago(200*time.Second), 200*time.Second
	half, _ := shard.Nth(shard.ByNamespace, 1, 2)
	s.status.Shard = informer.ShardStatus{Share: half, Foreign: 7_001, Server: "does not filter"}
	s.figures.history = s.figures.history[:100]
	return s
}

func packedSample() sample {
	s := healthy()
	s.of.id, s.of.name = "replicasets.v1.apps-1c9a11b2", "replicasets.apps"
	s.status.Storage = informer.StorageStatus{Budget: informer.NewBudget(8_000_000), Packed: 5_600_000, Decoded: 7_900_000, Pinned: 3, Decodes: 70_000}
	s.status.Totals.Shared = 0
	s.figures.memory = informer.Memory{At: ago(time.Minute), Objects: 13_560_000, Packed: 5_600_000, Decoded: 7_900_000, Engine: 3_900_000}
	for n := range s.figures.history {
		s.figures.history[n].Decodes = uint64(n)
	}
	return s
}

func quarantined() sample {
	s := healthy()
	s.of.id, s.of.name = "crontabs.v1.example.com-1c9a11b2", "crontabs.example.com"
	s.status.Quarantined, s.status.Unindexed = 2, 1
	s.status.UnindexedErrors = []*indexer.IndexError{{Index: "node", Key: indexer.Key{Namespace: "shop", Name: "web"}, Err: errors.New("hunter2")}}
	mismatch := &json.UnmarshalTypeError{Value: "number hunter2", Field: "spec.password"}
	s.figures.detail.quarantined = []informer.QuarantinedObject{
		{Key: indexer.Key{Namespace: "shop", Name: "nightly"}, Since: ago(time.Hour), Err: &informer.QuarantineError{Err: fmt.Errorf("%w: %w", informer.ErrDecode, mismatch)}},
		{Key: indexer.Key{Namespace: "shop", Name: "weekly"}, Since: ago(time.Minute), Err: &informer.QuarantineError{Err: fmt.Errorf("%w: hunter2", informer.ErrTransform)}},
	}
	return s
}

// samples are sample informers, by the name of their golden file.
func samples() map[string]sample {
	return map[string]sample{
		"healthy": healthy(), "syncing": syncing(), "parked": parked(), "stuck": stuck(), "stale": stale(), "quarantined": quarantined(),
		"packed": packedSample(),
	}
}
