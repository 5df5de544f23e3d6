// Package versus compares client-go's informers and tidemark's on a real kube-apiserver and etcd. Each
// library runs in its own process. In benchmarks of updates, both get the same updates at the same time.
// `make e2e-bench` runs several rounds of the benchmarks, computes the medians with benchstat, and
// writes the tables of docs/performance.md with the command table. To run some of the benchmarks:
//
//	make e2e-bench BENCHFLAGS='-test.bench Pods/sync-stream -pods 5000'
//	make e2e-bench BENCHFLAGS='-test.bench Pods/relist -profiles /tmp/profiles' ROUNDS=1
//
// # Guarantees
//
//   - CPU time, memory and calls are only those of the measured process. Wall times also depend on
//     the servers, which run on the same machine.
//   - "peak-B" is the peak resident memory during the section. "heap-B" is the heap after it,
//     without garbage.
//   - Each run verifies that the whole state has arrived.
//   - Objects are those of a generated cluster (internal/testutil/kit/cluster). Each is written
//     directly into etcd in its own transaction, so that it has its own version. Each benchmark has
//     its own servers.
package versus
