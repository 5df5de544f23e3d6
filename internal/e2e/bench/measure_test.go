package bench

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// section measures a part of a benchmark: time and allocations with the benchmark's timer, and CPU time
// with getrusage. A benchmark may have many sections in a row.
type section struct {
	b     *testing.B
	began time.Duration // the CPU time at the beginning of the section
	cpu   time.Duration // the CPU time of ended sections
	warm  bool          // the next section is not measured
}

// rounds yields once more than the benchmark has operations. The first round is not measured: it gets
// memory from the system that later rounds reuse. Otherwise the first implementation would pay for it.
func (s *section) rounds(yield func() bool) {
	for i := range 1 + s.b.N {
		s.warm = i == 0
		if !yield() {
			return
		}
	}
}

// newSection stops the benchmark's timer, so that the setup is not measured.
func newSection(b *testing.B) *section {
	b.StopTimer()
	b.ResetTimer()
	b.ReportAllocs()
	return &section{b: b}
}

// begin starts measuring, with a heap without garbage. The second collection frees the contents of
// sync.Pools from the previous round. Otherwise a section would need new memory from the system.
func (s *section) begin() {
	runtime.GC()
	runtime.GC()
	if s.warm {
		return
	}
	s.began = cpuTime()
	s.b.StartTimer()
}

// end stops measuring.
func (s *section) end() {
	if s.warm {
		return
	}
	s.b.StopTimer()
	s.cpu += cpuTime() - s.began
	s.b.ReportMetric(float64(s.cpu)/float64(s.b.N), "cpu-ns/op")
}

// measure measures one section in which the benchmark does all its N operations.
func measure(b *testing.B, work func()) {
	s := newSection(b)
	s.begin()
	work()
	s.end()
}

// measureAgain does the work once before it measures it. The measured work reuses the memory of the
// first run. Otherwise, for a read that allocates, the system's time for new memory would be measured,
// too.
func measureAgain(b *testing.B, work func()) {
	b.StopTimer()
	work()
	measure(b, work)
}

// count reports the mean of a figure over all iterations instead of their time.
func count(b *testing.B, unit string, figure func() float64) {
	sum := 0.0
	for range b.N {
		sum += figure()
	}
	b.ReportMetric(0, "ns/op") // do not report it
	b.ReportMetric(sum/float64(b.N), unit)
}

// cpuTime returns the CPU time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // only invalid arguments fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// goroutinesAtRest returns the number of goroutines when it no longer changes, because some goroutines
// end soon.
func goroutinesAtRest() int {
	const same, pause = 50, time.Millisecond
	n, seen := runtime.NumGoroutine(), 0
	for seen < same {
		time.Sleep(pause)
		seen++
		if now := runtime.NumGoroutine(); now != n {
			n, seen = now, 0
		}
	}
	return n
}

// heapAtRest returns the used bytes of the heap when the number of goroutines no longer changes.
func heapAtRest() float64 {
	goroutinesAtRest()
	runtime.GC()
	runtime.GC() // frees what a sync.Pool held
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// sizeOfCopies returns the size of shallow copies of all items in a list. Each informer has such copies,
// and benchmarks of memory subtract them.
func sizeOfCopies(list *corev1.PodList) float64 {
	copies := make([]*corev1.Pod, len(list.Items))
	before := heapAtRest()
	for i := range copies {
		copies[i] = new(corev1.Pod)
		*copies[i] = list.Items[i]
	}
	after := heapAtRest()
	runtime.KeepAlive(copies)
	runtime.KeepAlive(list)
	return after - before
}

// pace is the interval between two samples.
const pace = 100 * time.Microsecond

// peakWhile returns the peak heap use while work runs. The collector runs whenever the heap has grown by
// 5 %, so that garbage does not count.
func peakWhile(work func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	most := inUse()
	each(func(int) { most = max(most, inUse()) }, work)
	return max(most, inUse())
}

// inUse returns the size of the heap, including garbage. Unlike ReadMemStats, it does not stop the
// world.
func inUse() float64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64())
}

// each makes calls with pauses on its own goroutine while work runs.
func each(call func(i int), work func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			call(i)
			select {
			case <-stop:
				return
			default:
				time.Sleep(pace)
			}
		}
	}()
	work()
	close(stop)
	<-ended
}

// latencies are the durations of calls at regular intervals.
type latencies []time.Duration

// callWhile makes calls while work runs, and returns their durations.
//
// A slow call delays the calls that are due meanwhile. Each of these counts, too, with the rest of the
// wait. Otherwise a lock held for a second would be one slow call among thousands of fast ones
// (coordinated omission).
func callWhile(call func(i int), work func()) latencies {
	var taken latencies
	start := time.Now()
	each(func(i int) {
		before := time.Now()
		call(i)
		taken = append(taken, time.Since(before))
	}, work)
	return taken.evenly(time.Since(start))
}

// evenly adds the calls that slow calls have delayed, and sorts all calls. inAll is the total time of
// the calls and of the pauses between them.
func (l latencies) evenly(inAll time.Duration) latencies {
	for _, d := range l {
		inAll -= d
	}
	interval := max(inAll/time.Duration(len(l)), 1)
	all := slices.Clone(l)
	for _, d := range l {
		for d -= interval; d > 0; d -= interval {
			all = append(all, d)
		}
	}
	slices.Sort(all)
	return all
}

// quantile returns the duration that a given share of the sorted calls does not exceed.
func (l latencies) quantile(share float64) time.Duration {
	return l[min(int(share*float64(len(l))), len(l)-1)]
}

func TestABlockedCallBlocksTheNext(t *testing.T) {
	// Ten calls in 15 s: nine take no time, and one takes 5 s.
	calls := latencies{0, 0, 0, 0, 0, 5 * time.Second, 0, 0, 0, 0}

	all := calls.evenly(15 * time.Second)

	require.Equal(t, latencies{0, 0, 0, 0, 0, 0, 0, 0, 0, 1e9, 2e9, 3e9, 4e9, 5e9}, all)
	require.Zero(t, all.quantile(0.5))
	require.Equal(t, 5*time.Second, all.quantile(0.99))
	require.Equal(t, 5*time.Second, all.quantile(1))
}

func TestPeakIsTheMostInUseAtOnce(t *testing.T) {
	const block, blocks = 8 << 20, 64
	before := heapAtRest()

	most := peakWhile(func() {
		for range blocks { // only one block at a time is live, and all others are garbage
			b := make([]byte, block)
			b[0] = 1
			runtime.KeepAlive(b)
		}
	})

	require.Greater(t, most-before, float64(block)/2)
	require.Less(t, most-before, float64(blocks*block)/2)
}
