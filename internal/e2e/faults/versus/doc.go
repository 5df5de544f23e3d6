// Package versus has benchmarks of client-go's informers and tidemark's on a real kube-apiserver
// and etcd. Each library runs in a process of its own; in benchmarks of updates, both get the same
// updates at the same time. `make e2e-bench` runs the benchmarks some rounds, has benchstat take
// the medians, and command table writes the tables of docs/performance.md. To run some of the benchmarks:
//
//	make e2e-bench BENCHFLAGS='-test.bench Pods/sync-stream -pods 5000'
//	make e2e-bench BENCHFLAGS='-test.bench Pods/relist -profiles /tmp/profiles' ROUNDS=1
//
// # Guarantees
//
//   - CPU time, memory and calls are the measured process's alone. Wall times also depend on the
//     servers, which share the machine.
//   - "peak-B" is the largest resident memory during the section, and "heap-B" the heap after it, without
//     garbage.
//   - Each run proves that the whole state arrived.
//   - Objects are those of a made-up cluster (internal/testutil/kit/cluster), written directly into etcd,
//     one a transaction, so that each has a version of its own. A benchmark has servers of its own.
package versus
