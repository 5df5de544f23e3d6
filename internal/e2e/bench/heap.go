package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// heap returns how many bytes are in use, of a process at rest.
func heap() float64 {
	atRest()
	// What a pool holds goes with the second collection.
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// copiesOf is how many bytes copies of all items of a list take that share
// their parts with them. Each informer keeps such copies; what it needs beside
// them is its own.
func copiesOf(list *corev1.PodList) float64 {
	copies := make([]*corev1.Pod, len(list.Items))
	before := heap()
	for i := range copies {
		copies[i] = new(corev1.Pod)
		*copies[i] = list.Items[i]
	}
	after := heap()
	runtime.KeepAlive(copies)
	runtime.KeepAlive(list)
	return after - before
}

// eager makes the collector run whenever the heap has grown by so many percent,
// so that what is garbage is not taken for what is needed.
const eager = 5

// peakWhile returns the most bytes that were in use while work ran.
func peakWhile(work func() error) (float64, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(eager))
	runtime.GC()
	stop, ended := make(chan struct{}), make(chan float64)
	go func() {
		most := 0.0
		for {
			most = max(most, inUse())
			select {
			case <-stop:
				ended <- max(most, inUse())
				return
			default:
				time.Sleep(pace)
			}
		}
	}()
	err := work()
	close(stop)
	return <-ended, err
}

// inUse is the size of the heap with what is yet to be collected. Unlike
// ReadMemStats it stops nobody.
func inUse() float64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64())
}
