// Package bench has benchmarks in which client-go's informers and tidemark's do the same work.
// `make bench` runs them some rounds, has benchstat take the medians, and writes the table of
// README.md and the chart beside it with command table. It takes some minutes. By hand:
//
//	go test -run '^$' -bench 'Event/1/'                                one work, by each implementation
//	go test -run '^$' -bench 'Read/get/impl=typed' -cpuprofile cpu.out
//	go test -run '^$' -bench Sync -objects 1000000 -cpu 1,2
//
// A benchmark has one sub-benchmark for each implementation: "impl=client-go" is
// cache.NewSharedIndexInformer, "impl=typed" is informer.New, and "impl=clientgo-api" is tidemark behind
// client-go's interfaces.
//
// # Guarantees
//
//   - All implementations are fed the same objects, made in advance, from a source in memory that does
//     not stream its initial state: client-go would wait for it forever.
//   - Each run proves that all events were delivered. A wrong count fails the benchmark.
//   - Only the section between the setup and the checks is measured. The garbage collector does not run
//     in it: with so much prepared data on the heap, chance would decide which implementation pays for a
//     collection. That favours the implementation that allocates more; the table shows the allocations
//     beside the times. Benchmarks of memory do run the collector.
//   - Times are wall times. "cpu-ns/op" is the processor time of all goroutines of the process, with
//     those of the source: informers work on several goroutines.
package bench
