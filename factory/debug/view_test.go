package debug

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/factory/readiness"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func TestStates(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no rule"))
	for title, c := range map[string]struct {
		change func(*sample)
		want   []state
	}{
		"healthy":               {func(*sample) {}, nil},
		"an error that is over": {func(s *sample) { s.status.LastError = forbidden }, nil},
		"not started":           {func(s *sample) { s.status = informer.Status{} }, []state{stateNotStarted}},
		"syncing":               {func(s *sample) { s.status = informer.Status{Running: true} }, []state{stateSyncing}},
		"syncing in vain": {
			func(s *sample) {
				s.status = informer.Status{Running: true, Failing: []informer.RecentError{{Class: reflector.ErrorConnection, Err: errConnection}}}
			},
			[]state{stateFailing, stateSyncing},
		},
		"an error that is over, a watch reopening": {func(s *sample) { s.status.Watching, s.status.LastError = false, forbidden }, nil},
		"parked": {func(s *sample) {
			s.status.Watching, s.status.Failing = false, []informer.RecentError{{Class: reflector.ErrorForbidden, Err: forbidden}}
		}, []state{stateParked}},
		"not served":         {func(s *sample) { s.status.Watching, s.status.NotServedSince = false, now }, []state{stateNotServed}},
		"stopped":            {func(s *sample) { s.status.Running, s.status.Stopped, s.status.Stale = false, true, true }, []state{stateStopped}},
		"stopping":           {func(s *sample) { s.status.Stopped = true }, nil},
		"stale":              {func(s *sample) { s.status.Stale = true }, []state{stateStale}},
		"in a call, not yet": {func(s *sample) { s.figures.handlers[1].Calling = ago(stuckAfter - time.Millisecond) }, nil},
		"stuck":              {func(s *sample) { s.figures.handlers[1].Calling = ago(stuckAfter) }, []state{stateStuck}},
		"quarantined":        {func(s *sample) { s.status.Quarantined = 1 }, []state{stateQuarantined}},
		"not indexed":        {func(s *sample) { s.status.Unindexed = 1 }, []state{stateQuarantined}},
		"all at once": {
			func(s *sample) {
				s.status.Stale, s.status.Unindexed, s.status.Handlers[0].Backlog = true, 1, 10_001
				s.figures.handlers[0].Calling = ago(time.Hour)
			},
			[]state{stateStuck, stateStale, stateLagging, stateQuarantined},
		},
	} {
		t.Run(title, func(t *testing.T) {
			s := healthy()
			c.change(&s)
			seen := s.view()
			var got []state
			for _, f := range seen.Findings {
				require.NotEmpty(t, f.Why)
				got = append(got, f.State)
			}
			require.Equal(t, c.want, got)
			if c.want == nil {
				require.Equal(t, stateHealthy, seen.State)
			} else {
				require.Equal(t, c.want[0], seen.State)
			}
		})
	}
}

// The page and the probe agree about an informer, except that the page also gives the problems of an
// informer that has not synced, and of a stuck handler.
func TestThePageShowsWhatTheProbeReturns(t *testing.T) {
	for name, s := range samples() {
		for _, f := range readiness.Examine(s.status, readiness.Options{}) {
			if f.Condition == readiness.NotSynced {
				continue
			}
			require.True(t, slices.ContainsFunc(s.view().Findings, func(of finding) bool { return string(of.State) == string(f.Condition) }), "%s: %s", name, f.Condition)
		}
	}
}

// The view of an informer of another module is limited to the figures of its API.
func TestNothingMeasured(t *testing.T) {
	i := viewOf(subject{id: "a", name: "b"}, informer.Status{Synced: true}, figures{}, now)
	require.Equal(t, shownInformer{ID: "a", Name: "b", State: stateHealthy, Synced: true}, i)
}

// A handler added or removed between the two calls does not get another handler's figures, even if
// names are equal.
func TestHandlersAreJoinedByName(t *testing.T) {
	recorded := []informer.HandlerStatus{{Name: "a"}, {Name: "new"}, {Name: "twin"}, {Name: "twin"}}
	measured := []informer.HandlerMeasures{{Name: "gone", Lag: time.Hour}, {Name: "a", Lag: time.Second}, {Name: "twin", Lag: 2 * time.Second}, {Name: "twin", Lag: 3 * time.Second}}
	var lags []float64
	for _, h := range handlers(subject{}, recorded, measured, now) {
		lags = append(lags, h.Lag)
	}
	require.Equal(t, []float64{1, 0, 2, 3}, lags)
}

// A call that has not returned is shown before those that took longer, whatever its handler.
func TestAStuckCallIsShownFirst(t *testing.T) {
	s := stuck()
	s.figures.handlers[1].Calling = ago(42 * time.Second)
	s.figures.handlers[1].Slowest = []informer.SlowCall{{Key: indexer.Key{Name: "node-2"}, At: ago(42 * time.Second), Took: 42 * time.Second}}
	s.figures.handlers[0].Calling = time.Time{}
	for _, single := range []bool{true, false} {
		_, calls, _ := strings.Cut(textOf(rendered(t, single, s.view())), "Slowest calls of the last 15 minutes\n")
		require.Regexp(t, `^node-2 metrics 42 s 42 s\nnode-1 controller 1 min 15 s`, calls)
	}
}

func TestErrorsHoldNoValue(t *testing.T) {
	const value = "hunter2"
	open, secret := subject{}, subject{secret: true}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no rule\nat all"))
	for title, c := range map[string]struct {
		class reflector.ErrorClass
		err   error
		want  string
	}{
		"decode":       {reflector.ErrorDecode, fmt.Errorf("json: %q is no number", value), "The response cannot be decoded."},
		"server":       {reflector.ErrorServer, apierrors.NewInternalError(errors.New(value)), "The server failed."},
		"unknown":      {"a class of the future", errors.New(value), "A list or watch failed."},
		"connection":   {reflector.ErrorConnection, errConnection, "dial tcp 127.0.0.1:6443: connect: connection refused"},
		"forbidden":    {reflector.ErrorForbidden, fmt.Errorf("%s: %w", value, forbidden), `pods is forbidden: no rule at all`},
		"no API error": {reflector.ErrorForbidden, errors.New(value), "The server does not allow it (403)."},
	} {
		t.Run(title, func(t *testing.T) {
			require.Equal(t, c.want, open.errorText(c.class, c.err))
			require.NotContains(t, open.errorText(c.class, c.err), value)
			require.NotContains(t, secret.errorText(c.class, c.err), "pods")
			require.NotContains(t, secret.errorText(c.class, c.err), "6443")
		})
	}
	s := healthy()
	s.status.Notes = []string{"the initial state is listed, not streamed: cannot decode " + value}
	require.Equal(t, []string{"the initial state is listed, not streamed"}, s.view().Notes)
	require.Equal(t, "It cannot be prepared for the store.", open.quarantineText(errors.New(value)))
	require.NotContains(t, rendered(t, true, quarantined().view()), value)
}

func TestSecretsHaveNoNames(t *testing.T) {
	s := parked()
	s.status.Notes = []string{"the initial state is listed, not streamed: not top-secret"}
	require.Equal(t, []string{"the initial state is listed, not streamed"}, s.view().Notes)
	for _, single := range []bool{true, false} {
		page := rendered(t, single, s.view())
		require.NotContains(t, page, "web-6d4b75cb6d")
		require.NotContains(t, page, "top-secret")
	}
	require.Equal(t, "(hidden)", s.of.key(indexer.Key{Name: "a"}))
	require.Equal(t, "–", s.of.key(indexer.Key{}))
	require.Equal(t, "ns/(hidden)", s.of.key(indexer.Key{Namespace: "ns", Name: "a"}))
	s.of.secret = false
	require.Contains(t, rendered(t, true, s.view()), "web-6d4b75cb6d")
}

func TestHistory(t *testing.T) {
	require.Empty(t, history(nil, now))
	got := history([]informer.Moment{
		{At: ago(16 * time.Minute)}, {At: ago(15*time.Minute + 1)}, {At: ago(15 * time.Minute), Events: 1},
		{At: ago(10 * time.Second), Events: 9}, {At: ago(5 * time.Second), Events: 10, Decodes: 20, Lag: time.Second, Staleness: 2 * time.Second, Objects: 3, Bytes: 4},
	}, now)
	require.Len(t, got, 3)
	require.Equal(t, shownMoment{At: ago(5 * time.Second), Rate: 2, Decodes: 4, Lag: 1, Staleness: 2, Objects: 3, Bytes: 4}, got[2])
}

// A line is interrupted where moments are missing.
func TestPlot(t *testing.T) {
	at := func(ago time.Duration, events float64) shownMoment {
		return shownMoment{At: now.Add(-ago), Rate: events}
	}
	p := curves[0].draw([]shownMoment{at(15*time.Minute, 0), at(15*time.Minute-5*time.Second, 10), at(5*time.Second, 5), at(0, 2.5)}, axis{now, window})
	require.Equal(t, plot{
		Title: "Events", Now: "2.5/s", Most: "10.0/s",
		Line: "M0.0 39.0L1.3 1.0M238.7 20.0L240.0 29.5",
		Area: "M0.0 40L0.0 39.0L1.3 1.0V40ZM238.7 40L238.7 20.0L240.0 29.5V40Z",
	}, p)
	require.Equal(t, plot{Title: "Lag", Now: "–"}, curves[1].draw(nil, axis{now, window}))
	require.Empty(t, curves[4].draw([]shownMoment{at(0, 1)}, axis{now, window}).Line, "memory that was not measured")
}

// All plots of a page have the same time axis, which covers all moments.
func TestSpan(t *testing.T) {
	since := func(d time.Duration) report {
		return report{At: now, Informers: []shownInformer{{}, {History: []shownMoment{{At: ago(time.Second)}}}, {History: []shownMoment{{At: ago(d)}}}}}
	}
	require.Equal(t, time.Minute, spanOf(report{At: now}))
	require.Equal(t, time.Minute, spanOf(since(time.Minute)))
	require.Equal(t, 2*time.Minute, spanOf(since(time.Minute+1)))
	require.Equal(t, window, spanOf(since(time.Hour)))
}

func TestProgress(t *testing.T) {
	require.Nil(t, progress(informer.Progress{}, now))
	require.Equal(t, &shownProgress{Since: ago(2 * time.Second), Objects: 10, Total: 40, Rate: 5}, progress(informer.Progress{Since: ago(2 * time.Second), Objects: 10, Remaining: 30}, now))
	require.Zero(t, progress(informer.Progress{Since: now, Objects: 10, Remaining: -1}, now).Total)
}

func TestText(t *testing.T) {
	for want, got := range map[string]string{
		"0 s": duration(0), "163 ns": duration(163e-9), "20 µs": duration(20e-6), "20 ms": duration(0.02), "9.5 s": duration(9.5), "59 s": duration(59.9),
		"1 min 05 s": duration(65), "3 h 02 min": duration(3*3600 + 125), "5 days": duration(5 * 86400),
		"0 B": size(0), "999 B": size(999), "1.0 kB": size(1000), "1.0 MB": size(999_990), "123 MB": size(123_456_789), "5000 TB": size(5e15),
		"0/s": rate(0), "0.1/s": rate(0.1), "99.4/s": rate(99.4), "1,500/s": rate(1500), "–": age(time.Time{}, now), "2.0 s": age(ago(2*time.Second), now),
	} {
		require.Equal(t, want, got)
	}
	long := printable(strings.Repeat("ä", longestName))
	require.LessOrEqual(t, len(long), longestName+len("…"))
	require.Equal(t, "a\ufffdb\ufffd", printable("a\nb\u202e"))
}
