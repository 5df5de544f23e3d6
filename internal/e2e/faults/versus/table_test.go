package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rounds are those of a work: CPU in ms and heap in MB, of client-go and tidemark.
func rounds(figures ...[4]float64) (samples [2][]sample) {
	for _, f := range figures {
		for i := range samples {
			samples[i] = append(samples[i], sample{CPU: time.Duration(f[2*i] * 1e6), Heap: uint64(f[2*i+1] * 1e6), Peak: 1e6, Bare: true})
		}
	}
	return samples
}

func TestRatioIsTheMedianOfTheRounds(t *testing.T) {
	r := result{work{name: "sync"}, rounds([4]float64{100, 10, 50, 5}, [4]float64{300, 10, 100, 2}, [4]float64{800, 10, 100, 8})}
	require.Equal(t, "300ms, 100ms, 3.00x", r.cell(cpu))
	require.Equal(t, "10 MB, 5 MB, 0.50", r.cell(heap))
	require.Equal(t, nothing, r.cell(cpuOfEvent))
}

func TestTargets(t *testing.T) {
	samples := rounds([4]float64{200, 10, 100, 4})
	for _, test := range []struct {
		targets         []target
		wanted, verdict string
	}{
		{nil, nothing, nothing},
		{[]target{{cpu, 2, asked}}, "CPU 2.00x", "yes"},
		{[]target{{cpu, 2.1, asked}, {heap, 0.39, asked}}, "CPU 2.10x, heap 0.39", "no"},
		{[]target{{cpu, 2.1, asked}, {heap, 0.4, asked}}, "CPU 2.10x, heap 0.40", "not CPU"},
		{[]target{{cpu, 3, hopedFor}}, "CPU 3.00x (hoped for)", "no"},
	} {
		r := result{work{targets: test.targets}, samples}
		require.Equal(t, test.wanted, r.wanted())
		require.Equal(t, test.verdict, r.verdict())
	}
}

// As long as tidemark cannot drop managedFields, the rows about it say so.
func TestFieldsThatWereKept(t *testing.T) {
	r := result{work{task: task{Fields: dropped}, targets: []target{{cpu, 2, asked}}}, rounds([4]float64{200, 10, 100, 4})}
	require.Equal(t, "yes", r.verdict())
	r.samples[1][0].Bare = false
	require.Equal(t, "yes; managedFields were kept", r.verdict())
}

func TestUpdatesHaveATableOfTheirOwn(t *testing.T) {
	state := result{work{name: "sync"}, rounds([4]float64{200, 10, 100, 4})}
	updates := result{work{name: "updates"}, rounds([4]float64{200, 10, 100, 4})}
	for i := range updates.samples {
		updates.samples[i][0].Events = 100
	}
	text := table([]result{state, updates})
	require.Contains(t, text, "| sync | 200ms, 100ms, 2.00x |")
	require.Contains(t, text, "| updates | 2ms, 1ms, 2.00x |")
	first, second, _ := strings.Cut(text, "\n\n")
	require.NotContains(t, first, "p50")
	require.Contains(t, second, "p50")
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-pods", "10"}, {"-rounds", "0"}, {"-updates", "0"}, {"-only", "("},
		{"-readme", "README.md", "-only", "sync"}, {"-readme", "README.md", "-unique"}, {"-readme", "README.md", "-cpuprofile", t.TempDir()},
	} {
		_, _, err := parse(args)
		require.Error(t, err, "%v", args)
	}
	folder := t.TempDir() + "/profiles"
	args := []string{"-only", "^sync of", "-memprofile", folder}
	c, _, err := parse(args)
	require.NoError(t, err)
	require.DirExists(t, folder)
	require.Equal(t, `make e2e-bench BENCHFLAGS='-only '\''^sync of'\'' -memprofile `+folder+`'`, c.command(args))
	require.Equal(t, folder+"/sync-of-pods-1-changed.2.mem.pprof", profileFile(c.memProfile, "sync of pods, 1 % changed", 2, "mem"))
	require.Empty(t, profileFile(c.cpuProfile, "sync", 0, "cpu"))
}

func TestWorksOfAWorldStandTogether(t *testing.T) {
	names, left := map[string]bool{}, map[*world]bool{}
	for i, w := range works {
		require.False(t, names[w.name], w.name)
		names[w.name] = true
		if i > 0 && works[i-1].world != w.world {
			left[works[i-1].world] = true
		}
		require.False(t, left[w.world], w.name)
	}
}
