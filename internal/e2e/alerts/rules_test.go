package alerts

import (
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/stretchr/testify/require"
)

const metricsFolder = "../../../factory/metrics/"

// definitions returns the alerts by name.
func definitions(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile(metricsFolder + "alerts.yaml")
	require.NoError(t, err)
	groups, errs := rulefmt.Parse(text, false, model.UTF8Validation)
	require.Empty(t, errs)
	all := map[string]rulefmt.Rule{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			require.NotEmpty(t, r.Alert)
			require.NotContains(t, all, r.Alert)
			all[r.Alert] = r
		}
	}
	return all
}

// Each case gives an alert a series with one value per minute, in Prometheus' notation. It says when the
// alert fires and when it does not.
func TestAlerts(t *testing.T) {
	const of = `resource="pods", scope="in shop", instance="a"`
	for _, c := range []struct {
		alert, series string
		quiet         []time.Duration // when the alert must not fire
		firing        time.Duration   // when the alert must fire; 0 for never
		summary       string
	}{
		{
			"InformerStale", `tidemark_informer_condition{condition="stale", ` + of + `} _x4 1x20`,
			[]time.Duration{3 * time.Minute, 5 * time.Minute}, 7 * time.Minute, "The cache of pods in shop is out of date.",
		},
		{
			"InformerStale", `tidemark_informer_condition{condition="parked", ` + of + `} 1x20`,
			[]time.Duration{10 * time.Minute}, 0, "",
		},
		{
			"InformerNeverSynced", `tidemark_informer_condition{condition="not synced", ` + of + `} 1x20`,
			[]time.Duration{9 * time.Minute}, 10 * time.Minute, "The cache of pods in shop has never been synced.",
		},
		{
			"InformerParked", `tidemark_informer_condition{condition="parked", ` + of + `} 1x20`,
			[]time.Duration{4 * time.Minute}, 5 * time.Minute, "The API server refuses a to read pods in shop.",
		},
		{
			"InformerNotServed", `tidemark_informer_condition{condition="not served", ` + of + `} 1x20`,
			[]time.Duration{9 * time.Minute}, 10 * time.Minute, "The API server does not serve pods.",
		},
		{
			"InformerQuarantined", `tidemark_informer_quarantined_objects{` + of + `} 0x2 2x20
			tidemark_informer_unindexed_objects{` + of + `} 0x2 1x20`,
			[]time.Duration{2 * time.Minute, 6 * time.Minute}, 8 * time.Minute, "3 of the pods in shop cannot be decoded, transformed or indexed.",
		},
		{
			"InformerHandlerBehind", `tidemark_informer_handler_lag_seconds{handler="slow", ` + of + `} 0+20x30
			tidemark_informer_handler_backlog_events{handler="slow", ` + of + `} 0+100x30`,
			[]time.Duration{3 * time.Minute, 8 * time.Minute}, 10 * time.Minute, "The handler slow of pods in shop falls behind.",
		},
		{ // it catches up
			"InformerHandlerBehind", `tidemark_informer_handler_lag_seconds{handler="slow", ` + of + `} 600-10x30
			tidemark_informer_handler_backlog_events{handler="slow", ` + of + `} 6000-100x30`,
			[]time.Duration{10 * time.Minute, 20 * time.Minute}, 0, "",
		},
		{
			"InformerHandlerFails", `tidemark_informer_handler_failures_total{handler="bad", ` + of + `} 1x9 2x40`,
			[]time.Duration{9 * time.Minute, 30 * time.Minute}, 11 * time.Minute, "The handler bad of pods in shop panics.",
		},
		{
			"InformerRelists", `tidemark_informer_relists_total{cause="expired", ` + of + `} 0+0.3x60
			tidemark_informer_relists_total{cause="failure", ` + of + `} 0+0.3x60`,
			[]time.Duration{8 * time.Minute}, 40 * time.Minute, "a reads all pods in shop again and again.",
		},
		{ // repeatedly acquired leases are not a problem
			"InformerRelists", `tidemark_informer_relists_total{cause="start", ` + of + `} 0+1x60`,
			[]time.Duration{40 * time.Minute}, 0, "",
		},
	} {
		t.Run(c.alert, func(t *testing.T) {
			fires := play(t, definitions(t)[c.alert], c.series)
			for _, at := range c.quiet {
				require.Empty(t, fires[at], "after %s", at)
			}
			if c.firing == 0 {
				require.Empty(t, fires)
				return
			}
			require.Equal(t, []string{c.summary}, fires[c.firing], "after %s", c.firing)
		})
	}
}

// Each alert says how severe it is, what has happened, and what to do.
func TestEachAlertSaysWhatToDo(t *testing.T) {
	for name, r := range definitions(t) {
		require.Contains(t, []string{"warning", "critical"}, r.Labels["severity"], name)
		require.NotEmpty(t, r.Annotations["summary"], name)
		require.NotEmpty(t, r.Annotations["description"], name)
	}
}

// play evaluates an alert once a minute for an hour. It returns the summaries of the firing alerts by
// time.
func play(t *testing.T, r rulefmt.Rule, series string) map[time.Duration][]string {
	t.Helper()
	storage := promqltest.LoadedStorage(t, "load 1m\n\t"+series)
	t.Cleanup(func() { _ = storage.Close() })
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery), storage)
	expr, err := parser.ParseExpr(r.Expr)
	require.NoError(t, err)
	rule := rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), 0, labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, promslog.NewNopLogger())
	fires := map[time.Duration][]string{}
	for at := time.Duration(0); at <= time.Hour; at += time.Minute {
		_, err := rule.Eval(t.Context(), 0, time.Unix(0, 0).Add(at), query, &url.URL{}, 0)
		require.NoError(t, err)
		rule.ForEachActiveAlert(func(a *rules.Alert) {
			if a.State == rules.StateFiring {
				fires[at] = append(fires[at], a.Annotations.Get("summary"))
			}
		})
	}
	return fires
}
