# tidemark measured beside client-go, and beside itself; see main.go beside
# this file. The root Makefile includes it.

bench_dir := $(dir $(lastword $(MAKEFILE_LIST)))

.PHONY: bench bench-diff bench-scale

bench: ## compare client-go and tidemark, write the table into the README beside them; with BENCHFLAGS, print only
	cd $(bench_dir) && $(GO) run . $(or $(BENCHFLAGS),-readme README.md)

bench-diff: ## compare this tidemark with that of the revision REF; BENCHFLAGS are passed on
	@GO=$(GO) $(bench_dir)diff.sh '$(REF)' $(BENCHFLAGS)

bench-scale: ## measure the first rows at 1,000 to 1,000,000 objects, with 1 and 2 processors
	cd $(bench_dir) && $(GO) run . -scale -objects 1000000 $(BENCHFLAGS)
