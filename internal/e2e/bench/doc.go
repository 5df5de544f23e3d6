// Package bench compares client-go's informers and tidemark's at the same work. `make bench` runs
// several rounds of the benchmarks, computes the medians with benchstat, and writes the table of
// README.md and the chart with the command table. It takes several minutes. To run benchmarks by hand:
//
//	go test -run '^$' -bench 'Event/1/'                                one work, by each implementation
//	go test -run '^$' -bench 'Read/get/impl=typed' -cpuprofile cpu.out
//	go test -run '^$' -bench Sync -objects 1000000 -cpu 1,2
//
// A benchmark has a sub-benchmark for each implementation: "impl=client-go" is
// cache.NewSharedIndexInformer, "impl=typed" is informer.New, and "impl=clientgo-api" is tidemark with
// client-go's interfaces.
//
// # Guarantees
//
//   - All implementations get the same objects, made in advance, from a source in memory that does
//     not stream its initial state. Otherwise client-go would wait for it forever.
//   - Each run verifies that all events were delivered. A wrong count fails the benchmark.
//   - Only the section between the setup and the checks is measured. The garbage collector does not
//     run in it: with so much prepared data on the heap, chance would decide which implementation
//     pays for a collection. That favors implementations that allocate more. The table shows the
//     allocations next to the times. Benchmarks of memory do run the collector.
//   - Times are wall times. "cpu-ns/op" is the CPU time of all goroutines of the process, including
//     those of the source, because informers use several goroutines.
package bench
