# Benchmarks that compare tidemark with client-go, and with another revision; see doc.go in this folder.
# The root Makefile includes it.

bench_dir := $(dir $(lastword $(MAKEFILE_LIST)))

.PHONY: bench bench-diff bench-scale bench-test

bench: ## compare client-go and tidemark, write the table to internal/e2e/bench/README.md; with BENCHFLAGS, only print it
	@GO=$(GO) BENCHDEFAULTS='-test.skip EventAll -test.benchtime 100ms' $(bench_dir)bench.sh $(bench_dir) README.md $(BENCHFLAGS)

bench-diff: ## compare tidemark with its revision REF; BENCHFLAGS are passed to the benchmarks
	@GO=$(GO) $(bench_dir)diff.sh '$(REF)' $(BENCHFLAGS)

bench-scale: ## measure an event and a sync with 1,000 to 1,000,000 objects, with 1 and 2 processors
	cd $(bench_dir) && for n in 1000 10000 100000 1000000; do \
	  $(GO) test -run '^$$' -bench 'EventAll|Sync' -benchtime 100ms -cpu 1,2 . -objects $$n || exit; done

bench-test: ## run each benchmark once with few objects, because benchmarks check their results
	cd $(bench_dir) && $(GO) test -run '^$$' -bench . -benchtime 1x . -objects 2400 -events 3000
