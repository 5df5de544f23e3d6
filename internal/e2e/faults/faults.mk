# Scenarios on a real kube-apiserver and etcd; the root Makefile includes it.
# All targets build the servers first, unless they exist.

faults_dir := $(dir $(lastword $(MAKEFILE_LIST)))
# faults_bin begins a recipe that needs the servers: it builds them if necessary, and sets their folder.
faults_bin = bin=$$($(CURDIR)/$(controlplane_dir)build.sh) && export TIDEMARK_E2E_BIN="$$bin"
E2EFLAGS ?=

.PHONY: e2e e2e-full e2e-bench screenshots

# Without the servers' binaries, every scenario fails.
e2e: ## run tidemark against a real control plane under faults; E2EFLAGS are passed to go test
	cd $(faults_dir) && $(GO) vet ./... && $(GO) test ./harness ./versus/...
	cd $(faults_dir) && $(faults_bin) && TIDEMARK_VERIFY=structures $(GO) test -count=1 -parallel 4 -timeout 60m $(E2EFLAGS)

e2e-full: ## like e2e at full size: tens of thousands of objects, minutes of churn
	@$(MAKE) e2e E2EFLAGS='$(E2EFLAGS) -full'

e2e-bench: ## compare client-go and tidemark on a real control plane, write docs/performance.md; with BENCHFLAGS, only print the tables
	@$(faults_bin) && GO=$(GO) BENCHDEFAULTS='-test.benchtime 1x' ROUNDS=$(or $(ROUNDS),3) $(bench_dir)bench.sh $(faults_dir)versus $(CURDIR)/docs/performance.md $(BENCHFLAGS)

SCREENSHOTS ?= $(CURDIR)/.cache/screenshots

screenshots: ## take pictures of /debug/informers in Chromium, on a real control plane under faults, into the folder SCREENSHOTS
	cd $(faults_dir) && $(faults_bin) && $(GO) run ./screenshots -to '$(SCREENSHOTS)'
