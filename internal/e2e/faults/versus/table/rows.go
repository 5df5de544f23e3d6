package main

// stateRows are the rows of benchmarks that end when the whole state has arrived.
var stateRows = []row{
	{"Pods/sync-stream", "sync of pods by WatchList", []target{{cpu, 2.5}, {heap, 0.38}, {peak, 0.45}}},
	{"Pods/sync-list", "sync of pods by LIST", []target{{cpu, 2}, {heap, 0.38}, {peak, 0.45}}},
	{"Pods/sync-dropped", "sync of pods, tidemark drops managedFields", []target{{heap, 0.30}}},
	{"Pods/sync-packed", "sync of pods, tidemark holds them packed, 8 MiB of them decoded too", []target{{cpu, 1 / 0.7}, {heap, 1. / 12}, {peak, 0.2}}},
	{"Pods/sync-packed-keys", "the same, with a handler of keys", []target{{heap, 1. / 12}, {peak, 0.2}}},
	{"Pods/sync-stripped", "sync of pods, a transform strips managedFields", []target{{cpu, 2}, {heap, 0.35}}},
	{"Pods/relist-stream", "relist after a 410 by WatchList, 1 % changed", []target{{cpu, 4}}},
	{"Pods/relist-list", "relist after a 410 by LIST, 1 % changed", []target{{cpu, 2}}},
	{"Pods/reconnect", "50 informers reconnect", nil},
	{"UniquePods/sync", "sync of pods that share nothing", []target{{cpu, 1}, {heap, 1.02}}},
	{"Databases/sync-dynamic", "sync of a custom resource, dynamic", []target{{cpu, 5}, {heap, 0.25}}},
	{"Databases/sync-dynamic-dropped", "sync of a custom resource, dynamic, tidemark drops managedFields", []target{{heap, 0.2}}},
	{"Databases/sync-typed", "sync of a custom resource, typed", []target{{cpu, 2}, {heap, 0.4}}},
	{"Kinds/sync", "sync of 20 kinds", []target{{peak, 0.5}}},
	{"Kinds/sync-controllers", "the caches of kube-controller-manager", []target{{peak, 0.6}}},
	{"Manager/sync-stripped", "sync of a controller-runtime manager that strips managedFields", []target{{cpu, 1 / 0.48}, {heap, 0.38}, {peak, 0.42}}},
	{"Manager/work", "a controller-runtime manager at work", []target{{peak, 0.6}}},
}

// updateRows are the rows of benchmarks of updates.
var updateRows = []row{
	{"Pods/updates-1", "1,000 updates/s, 1 handler", []target{{cpuOfEvent, 1.5}}},
	{"Pods/updates-packed", "1,000 updates/s, 1 handler, packed", []target{{cpuOfEvent, 1}}},
	{"Pods/updates-16", "1,000 updates/s, 16 handlers", []target{{cpuOfEvent, 1.5}}},
}

// sameWork names, for benchmarks that only tidemark runs, the benchmark in which client-go does the same
// work.
var sameWork = map[string]string{
	"Pods/sync-dropped":              "Pods/sync-stream",
	"Pods/sync-packed":               "Pods/sync-stream",
	"Pods/sync-packed-keys":          "Pods/sync-stream",
	"Databases/sync-dynamic-dropped": "Databases/sync-dynamic",
}
