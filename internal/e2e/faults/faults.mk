# Scenarios on a real kube-apiserver and etcd; the root Makefile includes it.
# All targets build the servers first, unless they exist.

faults_dir := $(dir $(lastword $(MAKEFILE_LIST)))
# faults_bin begins a recipe that needs the servers: it builds them if need be, and says where they are.
faults_bin = bin=$$($(CURDIR)/$(controlplane_dir)build.sh) && export TIDEMARK_E2E_BIN="$$bin"
E2EFLAGS ?=

.PHONY: e2e e2e-full e2e-bench screenshots

# The servers' binaries have to be there: without them every scenario fails.
e2e: ## run tidemark against a real control plane under faults; E2EFLAGS are passed on to go test
	cd $(faults_dir) && $(GO) vet ./... && $(GO) test ./harness ./versus/...
	cd $(faults_dir) && $(faults_bin) && TIDEMARK_VERIFY=structures $(GO) test -count=1 -parallel 4 -timeout 60m $(E2EFLAGS)

e2e-full: ## the same at full size: tens of thousands of objects, minutes of churn
	@$(MAKE) e2e E2EFLAGS='$(E2EFLAGS) -full'

e2e-bench: ## compare client-go and tidemark on a real control plane, write docs/performance.md; with BENCHFLAGS, print only
	@$(faults_bin) && GO=$(GO) BENCHDEFAULTS='-test.benchtime 1x' ROUNDS=$(or $(ROUNDS),3) $(bench_dir)bench.sh $(faults_dir)versus $(CURDIR)/docs/performance.md $(BENCHFLAGS)

SCREENSHOTS ?= $(CURDIR)/.cache/screenshots

screenshots: ## make pictures of /debug/informers in Chromium, over a real control plane under faults, in the folder SCREENSHOTS
	cd $(faults_dir) && $(faults_bin) && $(GO) run ./screenshots -to '$(SCREENSHOTS)'
