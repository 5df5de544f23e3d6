package main

import (
	"fmt"
	"strings"

	"github.com/tidemark-k8s/tidemark/informer"
)

// work is one row of the table: something that each implementation does.
type work struct {
	name  string // for -only
	title string
	short string // for the chart; empty for none
	unit  unit   // of a sample's value
	// op is what the costs are told for each of: "event", "sync".
	op  string
	bar bar
	by  []implementation
	// rounds, if set, are enough: what is counted hardly varies.
	rounds int
	procs  int // GOMAXPROCS; zero for as it is
	// prepare makes what all implementations are fed from, and returns what
	// makes one of them ready to run.
	prepare func(config) (func(implementation) (contender, error), error)
}

// contender is an implementation that is ready to do its work again and again.
type contender struct {
	run  func(*meter) (sample, error)
	stop func() error // nil: there is nothing to stop
}

// unit is what a value is in.
type unit struct {
	show func(float64) string
	name string // for benchstat, an operation
}

var (
	inTime   = unit{duration, "ns"}
	inBytes  = unit{size, "bytes"}
	inNumber = unit{count, "n"}
	inTimes  = unit{times, "x"}
)

// works is all there is to do, in the order of the table.
func works(c config) []work {
	all := eventWorks()
	all = append(all, stateWorks(c)...)
	all = append(all, readWorks(c)...)
	all = append(all, listerWorks(c)...)
	all = append(all, storeWorks(c)...)
	all = append(all, decodeWorks()...)
	return append(all, restWorks(c)...)
}

// eventWorks is the path of an event.
func eventWorks() []work {
	return []work{
		{
			name: "event/1", short: "event, 1 handler", title: "one MODIFIED event, watch to handler, 1 handler", unit: inTime, op: "event",
			bar: bar{native: 10, face: 10, mallocs: new(1.0)}, by: fed, prepare: events(ofPods, 1),
		},
		{
			name: "event/4", title: "the same, 4 handlers", unit: inTime, op: "event",
			by: fed, prepare: events(ofPods, 4),
		},
		{
			name: "event/16", short: "event, 16 handlers", title: "the same, 16 handlers", unit: inTime, op: "event",
			bar: bar{native: 40, face: 40}, by: fed, prepare: events(ofPods, 16),
		},
		{
			name: "event/1/inspected", title: "one MODIFIED event, 1 handler, while somebody inspects the informer", unit: inTime, op: "event",
			by: ours, prepare: events(ofInspectedPods, 1),
		},
		{
			name: "event/16/inspected", title: "the same, 16 handlers", unit: inTime, op: "event",
			by: ours, prepare: events(ofInspectedPods, 16),
		},
		{
			name: "event/unstructured", short: "unstructured event, 4 handlers", title: "the same, unstructured objects, 4 handlers", unit: inTime, op: "event",
			bar: bar{native: 6, face: 6}, by: fed, prepare: events(ofUnstructured, 4),
		},
	}
}

// stateWorks is what is done with all objects at once.
func stateWorks(c config) []work {
	n := group(c.objects)
	return []work{
		{
			name: "sync", short: "initial sync", title: n + " pods: initial sync from memory, namespace index, 1 handler", unit: inTime, op: "sync",
			bar: bar{native: 3, face: 3, bytes: 0.8}, by: everyone, prepare: syncs,
		},
		{
			name: "relist", short: "relist, 1 % changed", title: n + " pods: relist of which 1 % changed, CPU time", unit: inTime, op: "relist",
			bar: bar{native: 5, face: 5}, by: everyone, prepare: relists,
		},
		{
			name: "relist/peak-pages", title: n + " pods: the same by pages, peak heap by steady heap", unit: inTimes, op: "relist",
			bar: bar{most: 1.3}, by: everyone, rounds: 3, prepare: peaks(false),
		},
		{
			name: "relist/peak-stream", title: n + " pods: the same by WatchList, peak heap by steady heap", unit: inTimes, op: "relist",
			bar: bar{most: 1.3}, by: everyone, rounds: 3, prepare: peaks(true),
		},
		{
			name: "join", short: "wait while a handler joins", title: n + " pods: longest wait of an event while another handler joins", unit: inTime, op: "join",
			bar: bar{most: 1e6}, by: everyone, prepare: joins,
		},
		{
			name: "resync", short: "resync, 1 of 8 handlers", title: n + " pods: resync to 1 of 8 handlers, CPU time", unit: inTime, op: "resync",
			bar: bar{native: 5, face: 5}, by: everyone, rounds: 3, prepare: resyncs(8),
		},
	}
}

// readWorks is reading.
func readWorks(c config) []work {
	n, some := group(c.objects), group(c.objects/max(1, c.objects/perGroup))
	return []work{
		{
			name: "get", short: "Get", title: n + " pods: Get of one, by the lister", unit: inTime, op: "Get",
			bar: bar{native: 3, mallocs: new(0.0)}, by: everyone, prepare: reads(getByLister(1)),
		},
		{
			name: "get/contended", short: "Get beside a writer", title: fmt.Sprintf("the same, %d goroutines and %s updates/s", readers, group(flowing)), unit: inTime, op: "Get",
			bar: bar{native: 4}, by: everyone, prepare: contended(getByLister(1)),
		},
		{
			name: "get/some", title: n + " pods: Get of one, by the lister, of 1,000 in turn", unit: inTime, op: "Get",
			by: everyone, prepare: reads(getByLister(perGroup)),
		},
		{
			// What the processor has long forgotten costs everyone the same to fetch.
			name: "get/any", title: n + " pods: Get of one, by the lister, of all in random order", unit: inTime, op: "Get",
			by: everyone, prepare: reads(getByLister(c.objects)),
		},
		{
			name: "get/key", title: "the same, by a key from the indexer", unit: inTime, op: "Get",
			bar: bar{native: 0.97, face: 0.97}, by: everyone, prepare: reads(getByKey),
		},
		{
			name: "get/replace", short: "Get during Replace, p99", title: n + " pods: p99 of Get while all of them are replaced", unit: inTime, op: "Replace",
			bar: bar{most: 200e3}, by: everyone, prepare: replaces,
		},
		{
			name: "list/namespace", short: "list a namespace", title: fmt.Sprintf("%s pods: list of a namespace of %s", n, some), unit: inTime, op: "list",
			bar: bar{native: 50, face: 2}, by: everyone, prepare: reads(listNamespace),
		},
		{
			name: "list/range", title: "the same, ranged over", unit: inTime, op: "list",
			bar: bar{mallocs: new(0.0)}, by: []implementation{clientgo, native}, prepare: reads(rangeNamespace),
		},
		{
			name: "list/selector", short: "list by label", title: fmt.Sprintf("%s pods: label selector `app=x` that matches %s", n, some), unit: inTime, op: "list",
			bar: bar{native: 5000, face: 1}, by: everyone, prepare: reads(listSelector),
		},
		{
			name: "list/operators", short: "list by in, notin, exists", title: n + " pods: label selector `" + operators + "`", unit: inTime, op: "list",
			bar: bar{native: 20}, by: everyone, prepare: reads(listOperators),
		},
		{
			name: "list/operators-namespace", title: "the same, in a namespace of " + some, unit: inTime, op: "list",
			bar: bar{native: 20}, by: everyone, prepare: reads(listOperatorsNamespace),
		},
		{
			name: "list/all", short: "list all", title: n + " pods: list of all", unit: inTime, op: "list",
			bar: bar{native: 10, face: 1.5}, by: everyone, prepare: reads(listAll),
		},
	}
}

// listerWorks is reading by what a factory's accessors return, which is all that
// somebody changes who changes an import.
func listerWorks(c config) []work {
	n, some := group(c.objects), group(c.objects/max(1, c.objects/perGroup))
	works := []work{
		{name: "lister/get", title: n + " pods: Get of one, by the lister of a factory", bar: bar{face: 2, mallocs: new(1.0)}, prepare: readsOf(newFactoryPods, getByLister(1))},
		{name: "lister/get/any", title: "the same, of all in random order", bar: bar{face: 1}, prepare: readsOf(newFactoryPods, getByLister(c.objects))},
		{
			name: "lister/get/contended", title: fmt.Sprintf("Get of one by the lister of a factory, %d goroutines and %s updates/s", readers, group(flowing)), bar: bar{face: 2},
			prepare: contendedOf(newFactoryPods, getByLister(1)),
		},
		{name: "lister/namespace", title: fmt.Sprintf("the same, list of a namespace of %s", some), bar: bar{face: 50}, prepare: readsOf(newFactoryPods, listNamespace)},
		{name: "lister/selector", title: fmt.Sprintf("the same, label selector `app=x` that matches %s", some), bar: bar{face: 1000}, prepare: readsOf(newFactoryPods, listSelector)},
		{name: "lister/all", title: "the same, list of all", bar: bar{face: 8}, prepare: readsOf(newFactoryPods, listAll)},
	}
	for i := range works {
		works[i].unit, works[i].by = inTime, []implementation{clientgo, face}
		works[i].op = "list"
		if strings.HasPrefix(works[i].name, "lister/get") {
			works[i].op = "Get"
		}
	}
	return works
}

// storeWorks is writing to a bare store.
func storeWorks(c config) []work {
	return []work{{
		name: "update", short: "update, 4 indexes", title: group(c.objects) + " pods, 4 indexes: update that changes the value of one index", unit: inTime, op: "update",
		bar: bar{native: 3, face: 2.5}, by: everyone, prepare: updates,
	}}
}

// decodeWorks is making objects of what a server sends, one decoder a row. What
// they have to reach together is measured on a real server, by make e2e-bench.
func decodeWorks() []work {
	both := []implementation{clientgo, native}
	return []work{
		{
			name: "decode/pod", short: "decode a pod", title: fmt.Sprintf("decoding a pod of 6 kB, of %d workloads, from protobuf, CPU time", workloads), unit: inTime, op: "object",
			by: both, prepare: decodes(inProtobuf(siblingPod)),
		},
		{
			name: "decode/lone-pod", title: "the same, pods that have nothing in common", unit: inTime, op: "object",
			by: both, prepare: decodes(inProtobuf(lonePod)),
		},
		{
			name: "decode/list", title: "decoding 1,000 pods from one list in JSON, CPU time for each", unit: inTime, op: "object",
			by: both, prepare: decodes(asList),
		},
		{
			name: "decode/unstructured", short: "decode an unstructured object", unit: inTime, op: "object",
			title: fmt.Sprintf("decoding an unstructured object of 4 kB, of %d variants, from JSON, CPU time", workloads),
			by:    both, prepare: decodes(asUnstructured),
		},
		{
			name: "decode/typed", short: "decode a custom resource", title: "the same, into a Go type", unit: inTime, op: "object",
			by: both, prepare: decodes(asType),
		},
	}
}

// restWorks is what is there when nothing moves.
func restWorks(c config) []work {
	const idling = 200
	n, updated := group(c.objects), group(stuckRounds*c.events)
	return []work{
		{
			name: "memory", title: n + " pods: memory beside the objects, namespace index, 1 idle handler, for each", unit: inBytes, op: "object",
			bar: bar{native: 1, face: 1}, by: everyone, rounds: 3, prepare: memory,
		},
		{
			name: "stuck/every", title: "memory beside the objects under a stuck handler and " + updated + " updates, for each", unit: inBytes, op: "event",
			bar: bar{native: 1.3, face: 1.3}, by: everyone, rounds: 3, prepare: stuck(informer.Every),
		},
		{
			name: "stuck/latest", title: "the same with Latest, for each of the objects", unit: inBytes, op: "object",
			bar: bar{most: 1000}, by: []implementation{clientgo, native}, rounds: 3, prepare: stuck(informer.Latest),
		},
		{
			name: "goroutines", title: "goroutines of 1 informer with 10 handlers", unit: inNumber, op: "informer",
			bar: bar{most: 13}, by: everyone, rounds: 3, prepare: goroutines,
		},
		{
			name: "idle/heap", title: fmt.Sprintf("%d idle informers: heap beside the objects", idling), unit: inBytes, op: "program",
			bar: bar{native: 2, face: 2}, by: everyone, rounds: 3, prepare: idle(idling, needOfHeap),
		},
		{
			name: "idle/goroutines", title: fmt.Sprintf("%d idle informers: goroutines", idling), unit: inNumber, op: "program",
			bar: bar{native: 2, face: 2}, by: everyone, rounds: 3, prepare: idle(idling, needOfGoroutines),
		},
	}
}
