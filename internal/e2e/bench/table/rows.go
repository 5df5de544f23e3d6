package main

// rows are the rows of the table, in order.
var rows = []row{
	{"Event/1", "one MODIFIED event, watch to handler, 1 handler", "event, 1 handler", wall, target{typed: 10, clientgoAPI: 10, allocs: new(1.0)}},
	{"Event/4", "the same, 4 handlers", "", wall, target{}},
	{"Event/16", "the same, 16 handlers", "event, 16 handlers", wall, target{typed: 40, clientgoAPI: 40}},
	{"EventInspected/1", "one MODIFIED event, 1 handler, while a program inspects the informer", "", wall, target{}},
	{"EventInspected/16", "the same, 16 handlers", "", wall, target{}},
	{"EventUnstructured/4", "one MODIFIED event of an unstructured object, 4 handlers", "unstructured event, 4 handlers", wall, target{typed: 6, clientgoAPI: 6}},

	{"Sync/memory", "100,000 pods: initial sync from memory, namespace index, 1 handler", "initial sync", wall, target{typed: 3, clientgoAPI: 3, bytes: 0.8}},
	{"Relist/memory", "100,000 pods: relist with 1 % changed, CPU time", "relist, 1 % changed", cpu, target{typed: 5, clientgoAPI: 5}},
	{"RelistPeak/pages", "the same by pages, peak heap by steady heap", "", peak, target{most: 1.3}},
	{"RelistPeak/stream", "the same by WatchList, peak heap by steady heap", "", peak, target{most: 1.3}},
	{"Join/memory", "100,000 pods: longest wait of an event while another handler joins", "wait while a handler joins", longest, target{most: 1e-3}},
	{"Resync/memory", "100,000 pods: resync to 1 of 8 handlers, CPU time", "resync, 1 of 8 handlers", cpu, target{typed: 5, clientgoAPI: 5}},
	{"Replace/p99", "100,000 pods: p99 of Get while all of them are replaced", "Get during Replace, p99", p99, target{most: 200e-6}},

	{"Read/get", "100,000 pods: Get of one, by the lister", "Get", wall, target{typed: 3, allocs: new(0.0)}},
	{"Read/get-contended", "the same, 2 goroutines and 10,000 updates/s", "Get during writes", wall, target{typed: 4}},
	{"Read/get-some", "the same, of 1,000 in turn", "", wall, target{}},
	{"Read/get-any", "the same, of all in random order", "", wall, target{}},
	{"Read/get-key", "the same, by a key from the indexer", "", wall, target{typed: 0.97, clientgoAPI: 0.97}},
	{"Read/namespace", "100,000 pods: list of a namespace of 1,000", "list a namespace", wall, target{typed: 50, clientgoAPI: 2}},
	{"Read/range", "the same, ranged over", "", wall, target{typed: 30, allocs: new(0.0)}},
	{"Read/selector", "100,000 pods: label selector `app=x` that matches 1,000", "list by label", wall, target{typed: 5000, clientgoAPI: 1}},
	{"Read/operators", "100,000 pods: label selector `app in (x,app-001),tier notin (frontend,cache),pod-template-hash`", "list by in, notin, exists", wall, target{typed: 20}},
	{"Read/operators-namespace", "the same, in a namespace of 1,000", "", wall, target{typed: 20}},
	{"Read/all", "100,000 pods: list of all", "list all", wall, target{typed: 10, clientgoAPI: 1.5}},

	{"Lister/get", "100,000 pods: Get of one, by the lister of a factory", "", wall, target{clientgoAPI: 2, allocs: new(1.0)}},
	{"Lister/get-contended", "the same, 2 goroutines and 10,000 updates/s", "", wall, target{clientgoAPI: 2}},
	{"Lister/get-any", "the same, of all in random order", "", wall, target{clientgoAPI: 1}},
	{"Lister/namespace", "the same lister, list of a namespace of 1,000", "", wall, target{clientgoAPI: 50}},
	{"Lister/selector", "the same lister, label selector `app=x` that matches 1,000", "", wall, target{clientgoAPI: 1000}},
	{"Lister/all", "the same lister, list of all", "", wall, target{clientgoAPI: 8}},

	{"Update/one-of-four-indexes", "100,000 pods, 4 indexes: update that changes the value of one index", "update, 4 indexes", wall, target{typed: 3, clientgoAPI: 2.5}},

	{"Find/one", "100,000 pods: Find by namespace, label and field, 1 hit; client-go: ByIndex, filtered by hand", "Find by three conditions", wall, target{typed: 25}},
	{"Find/one-composite", "the same; client-go: a composite index for only this query", "", wall, target{}},
	{"Find/label-field", "100,000 pods: Find by label and field, 1,000 candidates; client-go: ByIndex, filtered by hand", "", wall, target{typed: 2.5}},
	{"Find/either", "100,000 pods: Find of three queries, 1,000 hits; client-go: three lists, merged by UID", "Find by OR", wall, target{typed: 10}},
	{"Find/either-composite", "the same; client-go: composite indexes for only these queries", "", wall, target{}},
	{"Find/many", "100,000 pods: Find by two labels, 80,000 hits; client-go: the lister with the selector", "", wall, target{typed: 6}},

	{"Refs/update", "100,000 pods, 11 references and an owner each: update, indexed by both; client-go: index functions by hand", "update, indexed by references", wall, target{typed: 1.5}},
	{"Refs/update-without", "the same without these indexes", "", wall, target{}},
	{"Refs/referring", "the same: who refers to a Secret, 10 hits", "who refers to a Secret", wall, target{typed: 4}},

	{"Decode/pod", "decoding a pod of 7 kB, of 400 workloads, from protobuf, CPU time", "decode a pod", cpu, target{}},
	{"Decode/unique-pod", "the same, pods that share nothing", "", cpu, target{}},
	{"Decode/list", "decoding a list of 1,000 pods from JSON, CPU time", "", cpu, target{}},
	{"Decode/unstructured", "decoding a custom resource of 4 kB, of 200 variants, from JSON, CPU time", "decode a custom resource", cpu, target{}},
	{"Decode/typed", "the same, into a Go type", "", cpu, target{}},

	{"Foreign/protobuf", "an event outside of the share, pod of 7 kB in protobuf, CPU time; client-go: decoded", "drop a foreign event", cpu, target{most: 80e-9, allocs: new(0.0)}},
	{"Foreign/json", "the same, a custom resource of 4 kB in JSON, uid behind managedFields", "", cpu, target{most: 1.5e-6, allocs: new(0.0)}},

	{"PackedHeap/500-of-each", "100,000 pods of 200 owners: total heap of an informer that packs them, budget 0, per pod", "heap, packed", perObject, target{typed: 28}},
	{"PackedHeap/5-of-each", "the same, 5 pods of each owner", "", perObject, target{typed: 17}},
	{"PackedHeap/unique", "the same, 8,000 pods that share nothing", "", perObject, target{typed: 2.2}},
	{"PackedHeap/after-rollouts", "the same, 4,000 pods, 5 of each owner, after 50 rollouts; client-go: tidemark, new", "", perObject, target{typed: 0.77}},
	{"PackedSync/objects", "20,000 pods of 200 owners, packed: CPU time until a handler has them", "", cpu, target{typed: 1.43}},
	{"PackedSync/objects-shared", "the same; client-go: tidemark, not packed", "", cpu, target{typed: 0.625}},
	{"PackedSync/keys-shared", "the same until a handler has their keys; client-go: tidemark, not packed", "", cpu, target{typed: 0.8}},
	{"PackedGet/cold", "Get of a packed pod that is not decoded; client-go: Unmarshal of its bytes", "", wall, target{typed: 0.8}},
	{"PackedGet/hot-shared", "Get of a packed pod that is decoded, of 1,000 in turn; client-go: tidemark, not packed", "", wall, target{}},

	{"Memory/idle", "100,000 pods: memory without the objects, namespace index, 1 idle handler, per pod", "", perObject, target{typed: 1, clientgoAPI: 1}},
	{"Stuck/every", "memory without the objects, with a stuck handler and 1,000,000 updates, per update", "", perEvent, target{typed: 1.3, clientgoAPI: 1.3}},
	{"Stuck/latest", "the same with Latest, per object", "", perObject, target{most: 1000}},
	{"Goroutines/idle", "goroutines of 1 informer with 10 handlers", "", goroutines, target{most: 13}},
	{"Idle/200", "200 idle informers: heap without the objects", "", perProgram, target{typed: 2, clientgoAPI: 2}},
	{"Idle/200", "200 idle informers: goroutines", "", goroutines, target{typed: 2, clientgoAPI: 2}},
	{"IdleHTTP/protobuf", "400 idle informers of 10 pods by HTTP/2: heap per informer, including the server's part", "", perInformer, target{typed: 1}},
	{"IdleHTTP/json", "the same from JSON", "", perInformer, target{typed: 1}},
}
