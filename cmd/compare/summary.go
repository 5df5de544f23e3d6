package main

import (
	"fmt"
	"slices"
	"time"
)

// survey describes the kinds of the cluster.
type survey struct {
	Kinds   []kind
	Objects []int // of each kind
	LeftOut []leftOut
}

// leftOut is a kind that is not measured.
type leftOut struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

func (s survey) total() (n int) {
	for _, objects := range s.Objects {
		n += objects
	}
	return n
}

// raw has all measurements.
type raw struct {
	Syncs                          map[string][]syncSample // by side
	Events                         time.Duration           // how long events were watched
	ClientGoEvents, TidemarkEvents time.Duration           // CPU time for the events
	Seen                           seen
}

// window is the part of the history whose events are compared: the versions after from, up to and including
// to, by kind.
type window struct{ from, to map[string]uint64 }

// count counts the distinct versions in the window. After a relist, client-go calls its handlers again for
// unchanged objects. These calls do not count twice.
func (w window) count(kind string, versions []uint64) int {
	versions = slices.DeleteFunc(slices.Clone(versions), func(v uint64) bool { return v <= w.from[kind] || v > w.to[kind] })
	slices.Sort(versions)
	return len(slices.Compact(versions))
}

// pair has a number for each library.
type pair struct {
	ClientGo int `json:"clientGo"`
	Tidemark int `json:"tidemark"`
}

func (p pair) equal() bool { return p.ClientGo == p.Tidemark }

// seen has the counts of both libraries by kind: from the first tally in which they agree, or else from the
// last tally.
type seen map[string]counts

type counts struct{ objects, events pair }

func (c counts) agree() bool { return c.objects.equal() && c.events.equal() }

func (s seen) add(kinds []kind, clientGo, tidemark tally, span window) {
	for _, k := range kinds {
		if c, ok := s[k.Name]; ok && c.agree() {
			continue
		}
		s[k.Name] = counts{
			pair{clientGo.Objects[k.Name], tidemark.Objects[k.Name]},
			pair{span.count(k.Name, clientGo.Versions[k.Name]), span.count(k.Name, tidemark.Versions[k.Name])},
		}
	}
}

func (s seen) agree() bool {
	for _, c := range s {
		if !c.agree() {
			return false
		}
	}
	return true
}

// result is the comparison, as -o json prints it.
type result struct {
	About        environment  `json:"about"`
	Kinds        []kindResult `json:"kinds"`
	LeftOut      []leftOut    `json:"leftOut"`
	EventSeconds float64      `json:"eventSeconds"`
	ClientGo     figures      `json:"clientGo"`
	Tidemark     figures      `json:"tidemark"`
	Ratios       ratios       `json:"ratios"`
	Differences  []string     `json:"differences"`
}

// kindResult has the counts of both libraries for a kind.
type kindResult struct {
	Kind    string  `json:"kind"`
	Reading reading `json:"reading"`
	Objects pair    `json:"objects"`
	Events  pair    `json:"events"`
}

// figures are the numbers of objects and events that a library received, and the resources that it used for
// them.
type figures struct {
	Objects          int     `json:"objects"`
	Events           int     `json:"events"`
	HeapBytes        uint64  `json:"heapBytes"`
	PeakRSSBytes     uint64  `json:"peakRSSBytes"`
	SyncCPUSeconds   float64 `json:"syncCPUSeconds"`
	EventsCPUSeconds float64 `json:"eventsCPUSeconds"`
}

// ratios are tidemark's figures divided by client-go's. EventsCPU is null for fewer than 100 events, because
// an idle process also needs some CPU time.
type ratios struct {
	Heap      float64  `json:"heap"`
	PeakRSS   float64  `json:"peakRSS"`
	SyncCPU   float64  `json:"syncCPU"`
	EventsCPU *float64 `json:"eventsCPU"`
}

const fewEvents = 100

// summarize makes the result from the measurements.
func summarize(found survey, r raw) result {
	all := result{
		Kinds: []kindResult{}, LeftOut: append([]leftOut{}, found.LeftOut...), Differences: []string{},
		EventSeconds: r.Events.Seconds(), ClientGo: figuresOf(r.Syncs[clientGo]), Tidemark: figuresOf(r.Syncs[tidemark]),
	}
	ours, theirs := &all.Tidemark, &all.ClientGo
	theirs.EventsCPUSeconds, ours.EventsCPUSeconds = r.ClientGoEvents.Seconds(), r.TidemarkEvents.Seconds()
	for _, k := range found.Kinds {
		c := r.Seen[k.Name]
		all.Kinds = append(all.Kinds, kindResult{k.Name, k.Reading, c.objects, c.events})
		theirs.Objects, ours.Objects = theirs.Objects+c.objects.ClientGo, ours.Objects+c.objects.Tidemark
		theirs.Events, ours.Events = theirs.Events+c.events.ClientGo, ours.Events+c.events.Tidemark
		all.Differences = append(all.Differences, c.differences(k.Name)...)
	}
	all.Ratios = ratios{
		Heap: ratio(ours.HeapBytes, theirs.HeapBytes), PeakRSS: ratio(ours.PeakRSSBytes, theirs.PeakRSSBytes),
		SyncCPU: ratio(ours.SyncCPUSeconds, theirs.SyncCPUSeconds),
	}
	if min(ours.Events, theirs.Events) >= fewEvents {
		all.Ratios.EventsCPU = new(ratio(ours.EventsCPUSeconds, theirs.EventsCPUSeconds))
	}
	return all
}

func (c counts) differences(kind string) (all []string) {
	for _, of := range []struct {
		name string
		pair pair
	}{{"objects", c.objects}, {"events", c.events}} {
		if !of.pair.equal() {
			all = append(all, fmt.Sprintf("%s: client-go saw %s %s, tidemark saw %s", kind, thousands(of.pair.ClientGo), of.name, thousands(of.pair.Tidemark)))
		}
	}
	return all
}

// figuresOf returns the medians of several syncs.
func figuresOf(syncs []syncSample) (f figures) {
	f.HeapBytes = uint64(median(syncs, func(s syncSample) float64 { return float64(s.Heap) }))
	f.PeakRSSBytes = uint64(median(syncs, func(s syncSample) float64 { return float64(s.PeakRSS) }))
	f.SyncCPUSeconds = median(syncs, func(s syncSample) float64 { return s.CPU.Seconds() })
	return f
}

// median returns the median of a figure. The median of two values is their mean.
func median(syncs []syncSample, figure func(syncSample) float64) float64 {
	if len(syncs) == 0 {
		return 0
	}
	var all []float64
	for _, s := range syncs {
		all = append(all, figure(s))
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func ratio[N uint64 | float64](ours, theirs N) float64 {
	if theirs == 0 {
		return 0
	}
	return float64(ours) / float64(theirs)
}
