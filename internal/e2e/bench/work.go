package main

import "fmt"

// work is one row of the table: something that each implementation does.
type work struct {
	name  string // for -only
	title string
	show  func(float64) string // spells a sample's value
	// op is what the costs are told for each of: "event", "sync".
	op        string
	bar, goal bar
	by        []implementation
	// prepare makes what all implementations are fed from, and returns what
	// makes one of them ready to run.
	prepare func(config) (func(implementation) (contender, error), error)
}

// contender is an implementation that is ready to do its work again and again.
type contender struct {
	run  func(*meter) (sample, error)
	stop func() error // nil: there is nothing to stop
}

// works is all there is to do, in the order of the table.
func works(c config) []work {
	n := group(c.objects)
	some := c.objects / max(1, c.objects/perGroup)
	return []work{
		{
			name: "event/1", title: "one MODIFIED event, watch to handler, 1 handler", show: duration, op: "event",
			bar: bar{native: 5, face: 5}, goal: bar{native: 8, face: 8}, by: fed, prepare: events(1),
		},
		{
			name: "event/4", title: "the same, 4 handlers", show: duration, op: "event",
			by: fed, prepare: events(4),
		},
		{
			name: "event/16", title: "the same, 16 handlers", show: duration, op: "event",
			bar: bar{native: 20, face: 20}, goal: bar{native: 40, face: 40}, by: fed, prepare: events(16),
		},
		{
			name: "sync", title: n + " pods: initial sync from memory, namespace index, 1 handler", show: duration, op: "sync",
			bar: bar{native: 2, face: 2}, goal: bar{native: 3, face: 3}, by: everyone, prepare: syncs,
		},
		{
			name: "get", title: n + " pods: Get of one, by the lister", show: duration, op: "Get",
			goal: bar{native: 3}, by: everyone, prepare: reads(getByLister),
		},
		{
			name: "get-by-key", title: n + " pods: Get of one, by a key from the indexer", show: duration, op: "Get",
			by: everyone, prepare: reads(getByKey),
		},
		{
			name: "list/namespace", title: fmt.Sprintf("%s pods: list of a namespace of %s", n, group(some)), show: duration, op: "list",
			goal: bar{native: 20, face: 2}, by: everyone, prepare: reads(listNamespace),
		},
		{
			name: "list/selector", title: fmt.Sprintf("%s pods: label selector `app=x` that matches %s", n, group(some)), show: duration, op: "list",
			goal: bar{native: 1000, face: 1}, by: everyone, prepare: reads(listSelector),
		},
		{
			name: "list/all", title: n + " pods: list of all", show: duration, op: "list",
			goal: bar{native: 6, face: 1.5}, by: everyone, prepare: reads(listAll),
		},
		{
			name: "get-during-replace", title: n + " pods: p99 of Get while all of them are replaced", show: duration, op: "Replace",
			bar: bar{most: 1e6}, goal: bar{most: 200e3}, by: everyone, prepare: replaces,
		},
		{
			name: "goroutines", title: "goroutines of 1 informer with 10 handlers", show: count, op: "informer",
			bar: bar{most: 13}, goal: bar{most: 13}, by: everyone, prepare: goroutines,
		},
	}
}
