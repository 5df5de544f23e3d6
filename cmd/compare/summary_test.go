package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var pods, crontabs = kind{Name: "pods", Namespaced: true, Reading: typed}, kind{Name: "crontabs.stable.example.com", Namespaced: true, Reading: dynamic}

func example() (survey, raw) {
	found := survey{
		Kinds: []kind{pods, crontabs}, Objects: []int{20_000, 12},
		LeftOut: []leftOut{{"secrets", "secrets is forbidden"}},
	}
	return found, raw{
		Syncs: map[string][]syncSample{
			clientGo: {{CPU: 3 * time.Second, Heap: 400e6, PeakRSS: 900e6}, {CPU: 4 * time.Second, Heap: 402e6, PeakRSS: 700e6}},
			tidemark: {{CPU: time.Second, Heap: 150e6, PeakRSS: 220e6}, {CPU: 1500 * time.Millisecond, Heap: 152e6, PeakRSS: 230e6}},
		},
		Events: time.Minute, ClientGoEvents: 2 * time.Second, TidemarkEvents: 1200 * time.Millisecond,
		Seen: seen{"pods": {pair{20_001, 20_001}, pair{6_000, 6_000}}, "crontabs.stable.example.com": {pair{12, 12}, pair{0, 0}}},
	}
}

var here = environment{Go: "go1.26.8", Platform: "linux/amd64", Processors: 2, ClientGo: "v0.37.2", Tidemark: "v0.37.0"}

func TestResultsLookLikeThis(t *testing.T) {
	for name, change := range map[string]func(*raw){
		"same": func(*raw) {},
		"different": func(r *raw) {
			r.Seen["pods"] = counts{pair{20_001, 20_000}, pair{99, 98}}
		},
	} {
		found, measured := example()
		change(&measured)
		r := summarize(found, measured)
		r.About = here
		for format, file := range map[output]string{outputTable: name + ".txt", outputJSON: name + ".json"} {
			var b bytes.Buffer
			require.NoError(t, format.print(&b, r))
			golden(t, file, b.String())
		}
	}
}

func TestAnnouncement(t *testing.T) {
	found, _ := example()
	golden(t, "announcement.txt", found.announcement(options{events: time.Minute, namespace: "shop"}))
}

func TestMedian(t *testing.T) {
	cpu := func(seconds ...int) float64 {
		var all []syncSample
		for _, s := range seconds {
			all = append(all, syncSample{CPU: time.Duration(s) * time.Second})
		}
		return figuresOf(all).SyncCPUSeconds
	}
	require.Zero(t, cpu())
	require.InDelta(t, 3, cpu(3), 0)
	require.InDelta(t, 4, cpu(5, 3), 0)
	require.InDelta(t, 4, cpu(9, 3, 4), 0)
}

// Events count if they are in the window, each version once.
func TestWindow(t *testing.T) {
	w := window{map[string]uint64{"pods": 10}, map[string]uint64{"pods": 20}}
	require.Equal(t, 3, w.count("pods", []uint64{9, 20, 10, 15, 11, 15, 21}))
	require.Zero(t, w.count("nodes", []uint64{1}))
}

// A kind keeps the first counts on which both libraries agree, and otherwise the last counts.
func TestSeenAgreesKindByKind(t *testing.T) {
	span := window{map[string]uint64{}, map[string]uint64{"pods": 100, crontabs.Name: 100}}
	of := func(pods, tabs int, podEvents ...uint64) tally {
		return tally{map[string]int{"pods": pods, crontabs.Name: tabs}, map[string][]uint64{"pods": podEvents}}
	}
	all, kinds := seen{}, []kind{pods, crontabs}

	all.add(kinds, of(5, 1, 1), of(5, 2, 1), span)
	require.False(t, all.agree())
	all.add(kinds, of(6, 3, 1), of(7, 3, 1), span)
	require.True(t, all.agree())
	require.Equal(t, seen{"pods": {pair{5, 5}, pair{1, 1}}, crontabs.Name: {pair{3, 3}, pair{}}}, all)

	missing := seen{}
	missing.add(kinds, of(5, 1, 1, 2), of(5, 1, 1), span)
	require.Equal(t, []string{"pods: client-go saw 2 events, tidemark saw 1"}, missing["pods"].differences("pods"))
}

func TestKindsAreNamedAsInKubectl(t *testing.T) {
	names, err := splitKinds(" Pods, crontabs.stable.example.com,deployments.v1.apps")
	require.NoError(t, err)
	require.Equal(t, []string{"pods", "crontabs.stable.example.com", "deployments.v1.apps"}, names)
	for _, bad := range []string{"", "pods,", "a/b", "a b", "pods,pods"} {
		_, err := splitKinds(bad)
		require.Error(t, err, "%q", bad)
	}

	require.Equal(t, []schema.GroupVersionResource{{Resource: "pods"}}, resourceOf("pods"))
	require.Equal(t, []schema.GroupVersionResource{{Group: "apps", Version: "v1", Resource: "deployments"}, {Group: "v1.apps", Resource: "deployments"}}, resourceOf("deployments.v1.apps"))
}

func TestReadings(t *testing.T) {
	require.Equal(t, typed, readingOf(schema.GroupVersionResource{Version: "v1", Resource: "pods"}, true))
	require.Equal(t, metadata, readingOf(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, true))
	require.Equal(t, dynamic, readingOf(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "secrets"}, false))
}

func TestBar(t *testing.T) {
	require.Equal(t, "[############............] sync 1 of 4, client-go, 1,000 of 2,000", bar("sync 1 of 4, client-go", 1000, 2000))
	require.Equal(t, "[########################] x, 3 of 2", bar("x", 3, 2))
}
