package metrics

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// figures are those of one informer.
type figures struct {
	status   informer.Status
	measures measures
}

// fixedFigures is a collector of made-up figures.
type fixedFigures map[identity][]figures

func (t fixedFigures) Describe(to chan<- *prometheus.Desc) { New().Describe(to) }

func (t fixedFigures) Collect(to chan<- prometheus.Metric) {
	a := newAggregate()
	for id, several := range t {
		for _, one := range several {
			a.of(id).addInformer(one.status, one.measures)
		}
	}
	a.collect(to)
}

// status returns a status with every field in use.
func status() informer.Status {
	return informer.Status{
		Synced: true, Running: true, Watching: true, Objects: 5000, Quarantined: 2, Unindexed: 3, LeftOut: 4,
		Staleness: 90 * time.Second, SyncTook: 1500 * time.Millisecond,
		Totals: informer.Totals{
			Lists: 1, Streams: 2, Watches: 3,
			Relists: map[reflector.Cause]int{reflector.CauseStart: 1, reflector.CauseExpired: 2},
			Errors:  map[reflector.ErrorClass]int{reflector.ErrorForbidden: 7},
			Waits:   8, Waited: 9 * time.Second,
			Added: 10, Updated: 11, Deleted: 12, Bookmarks: 13, Shared: 14,
		},
		Shard:     informer.ShardStatus{Share: shard.Whole(shard.ByUID), Foreign: 33, Server: "does not filter"},
		Storage:   informer.StorageStatus{Budget: informer.NewBudget(0), Pinned: 30, Decodes: 31},
		OwnWrites: informer.OwnWrites{Linked: true, Shown: 24, Outside: 25, Waiting: 26, Doubtful: 27, Ghosts: 28, Pending: 29},
		Handlers:  []informer.HandlerStatus{{Name: "quick", Delivered: 15}, {Name: "slow", Delivered: 16, Backlog: 17, Failures: 18}},
	}
}

func inspected() figures {
	return figures{status(), measures{
		informer.Memory{Objects: 1 << 20, Packed: 1 << 11, Decoded: 1 << 12, Engine: 1 << 10},
		19, 20 * time.Microsecond,
		[]informer.HandlerMeasures{{Name: "quick"}, {Name: "slow", Lag: 21 * time.Second, Sampled: 22, Took: 23 * time.Second}},
	}}
}

// The figures of one informer are kept in testdata; -rewrite updates the file.
func TestFigures(t *testing.T) {
	const file = "testdata/figures.txt"
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	got, err := testutil.CollectAndFormat(fixedFigures{{pods, "in shop"}: {inspected()}}, expfmt.TypeTextPlain, names...)
	require.NoError(t, err)
	if *rewrite {
		require.NoError(t, os.WriteFile(file, got, 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotEmpty(t, want)
	require.Equal(t, string(want), string(got), "go test . -rewrite writes it anew")
}

// Informers with the same labels share series: sums of the counts, the longest durations, and what holds for all.
func TestInformersWithTheSameLabels(t *testing.T) {
	worse := figures{status: informer.Status{
		Objects: 1, Staleness: time.Hour, Totals: informer.Totals{Errors: map[reflector.ErrorClass]int{reflector.ErrorForbidden: 1, reflector.ErrorBusy: 1}},
		Handlers: []informer.HandlerStatus{{Name: "slow", Backlog: 3}, {Name: "another", Backlog: 1}},
		Shard:    informer.ShardStatus{Share: shard.Whole(shard.ByUID), Server: "filters"},
	}}
	figures := fixedFigures{{pods, ""}: {inspected(), worse}}
	require.NoError(t, testutil.CollectAndCompare(figures, strings.NewReader(`
# HELP tidemark_informer_errors_total Failed lists and watches, by the class of the error.
# TYPE tidemark_informer_errors_total counter
tidemark_informer_errors_total{class="busy",group="",resource="pods",scope="",version="v1"} 1
tidemark_informer_errors_total{class="forbidden",group="",resource="pods",scope="",version="v1"} 8
# HELP tidemark_informer_handler_backlog_events Events waiting for the handler.
# TYPE tidemark_informer_handler_backlog_events gauge
tidemark_informer_handler_backlog_events{group="",handler="another",resource="pods",scope="",version="v1"} 1
tidemark_informer_handler_backlog_events{group="",handler="quick",resource="pods",scope="",version="v1"} 0
tidemark_informer_handler_backlog_events{group="",handler="slow",resource="pods",scope="",version="v1"} 20
# HELP tidemark_informer_objects Objects in the store.
# TYPE tidemark_informer_objects gauge
tidemark_informer_objects{group="",resource="pods",scope="",version="v1"} 5001
# HELP tidemark_informer_server_filters 1 if the server leaves out objects outside of the informer's share, 0 if it sends everything.
# TYPE tidemark_informer_server_filters gauge
tidemark_informer_server_filters{group="",resource="pods",scope="",version="v1"} 0
# HELP tidemark_informer_staleness_seconds Time since the server last sent anything. Up to a minute is normal if no objects change.
# TYPE tidemark_informer_staleness_seconds gauge
tidemark_informer_staleness_seconds{group="",resource="pods",scope="",version="v1"} 3600
# HELP tidemark_informer_synced 1 once the store has been synced.
# TYPE tidemark_informer_synced gauge
tidemark_informer_synced{group="",resource="pods",scope="",version="v1"} 0
`), prefix+"errors_total", prefix+"handler_backlog_events", prefix+"objects", prefix+"server_filters", prefix+"staleness_seconds", prefix+"synced"))
}

// The parts of the memory add up, also of a packed and an unpacked informer together.
func TestPartsOfTheMemory(t *testing.T) {
	s := newSamples(identity{})
	parts := func() (bytes float64, parts int) {
		for _, one := range s.all {
			if one.series == memory {
				bytes, parts = bytes+one.value, parts+1
			}
		}
		return bytes, parts
	}
	s.addInformer(informer.Status{}, measures{memory: informer.Memory{Objects: 1 << 21, Engine: 1 << 9}})
	bytes, n := parts()
	require.InEpsilon(t, 1<<21+1<<9, bytes, 0)
	require.Equal(t, 2, n)
	f := inspected()
	s.addInformer(f.status, f.measures)
	bytes, n = parts()
	require.InEpsilon(t, 1<<21+1<<9+1<<20+1<<10, bytes, 0)
	require.Equal(t, 4, n)
}

// Scopes and handlers beyond the limits are counted as "other".
func TestTooMany(t *testing.T) {
	a := newAggregate()
	for scope := range 3 * maxScopes {
		one := informer.Status{Objects: 1}
		for h := range 2 * maxHandlers {
			one.Handlers = append(one.Handlers, informer.HandlerStatus{Name: fmt.Sprint("handler ", h), Backlog: 1})
		}
		a.of(identity{pods, fmt.Sprint("scope ", scope)}).addInformer(one, measures{})
	}
	a.of(identity{resource: schema.GroupVersionResource{Resource: "secrets"}}).addInformer(informer.Status{Objects: 1}, measures{})

	require.Len(t, a.samples, maxScopes+2)
	rest := a.samples[identity{pods, other}]
	value := func(of *series, label string) float64 { return rest.all[rest.places[place{of, label}]].value }
	require.EqualValues(t, 2*maxScopes, value(objects, ""))
	require.Len(t, rest.handlers, maxHandlers+1)
	require.EqualValues(t, 2*maxScopes*maxHandlers, value(backlog, other))
}

func TestNamesThatAreNotText(t *testing.T) {
	bad := figures{status: informer.Status{Handlers: []informer.HandlerStatus{{Name: "\xff\n\""}, {Name: "\xfe\n\""}}}}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(fixedFigures{{pods, "with \xfe"}: {bad}, {pods, "with \xff"}: {bad}})
	_, err := registry.Gather()
	require.NoError(t, err)
}

// Prometheus' linter finds no broken naming convention.
func TestConventions(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(fixedFigures{{pods, ""}: {inspected()}})
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
}
