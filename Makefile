# What a contributor runs. All of it needs Go and a POSIX shell and nothing
# else; what is fetched beyond that is pinned by a go.mod.

GO ?= go

.DEFAULT_GOAL := help
.PHONY: help test test-long test-modules test-newest-client-go test-next-client-go sim fuzz lint tidy sizes api api-diff fmt cover migrate-programs

help: ## show this list
	@awk '{ name = "" } \
	  match($$0, /^[a-z][a-z0-9-]*:/) { name = substr($$0, 1, RLENGTH - 1) } \
	  name && (i = index($$0, "## ")) { above = substr($$0, i + 3) } \
	  name && above { printf "  make %-22s %s\n", name, above } \
	  { above = /^## / ? substr($$0, 4) : "" }' $(MAKEFILE_LIST)

# In tests, every structure checks its own invariants.
test test-long sim fuzz cover: export TIDEMARK_VERIFY = structures

# Packages that are tested without the race detector, because no goroutines meet in them, or few. make test-long runs
# those with few goroutines with it. internal/testutil checks the list.
unraced := \
	./examples/crd \
	./examples/internal/programs \
	./factory/internal/kindgen \
	./indexer/refs \
	./informer/internal/eventlog \
	./informer/internal/fences \
	./informer/internal/limits \
	./informer/internal/measure \
	./internal/fields \
	./internal/gotype \
	./internal/heapsize \
	./internal/jsondecode \
	./internal/object \
	./internal/ownwrites \
	./internal/process \
	./internal/protodecode \
	./internal/report \
	./internal/share \
	./internal/sharepass \
	./internal/testutil \
	./internal/testutil/chance \
	./internal/testutil/claims \
	./internal/testutil/fakecodec \
	./internal/testutil/kit \
	./internal/testutil/kit/cluster \
	./lister \
	./shard

# Tests that take long under the race detector, which would find nothing new there, and their packages. They ask
# for the tier they are in (internal/testutil/tier): make test leaves them out or cuts them short where it has the detector.
tiered := ./indexer ./indexer/refs ./informer ./informer/informertest ./informer/internal/engine ./informer/internal/fences ./internal/pack ./internal/protodecode ./internal/share ./internal/testutil/sim ./reflector
slow := \
	TestMachineInEveryState \
	TestMachineOnEveryShortWord \
	TestNoAnswerMakesAHotLoop \
	TestLargeFullStatesAgainstTheTwin \
	TestStagingHasAStateForEachKey \
	TestLabelKeysThatAreTooMany \
	TestAnObjectWithVeryManyIndexValues \
	TestDeletingOneOfTwoObjectsWithVeryManyIndexValues \
	TestGaugeLooksUpWhatPays \
	TestTableAgainstItsTwin \
	TestContract_D32_WhateverHappens \
	TestContract_D37_FindDuringLargeRelists \
	TestContract_D37_FindSelectsWhatAFilterSelects \
	FuzzFind \
	TestAnUnusedLabelIndexIsDropped \
	TestEachRuleFindsSomething \
	TestDecode_EveryKind \
	TestFullStatesAndChangesAgainstTheTwin \
	TestPackedObjectsOfAServer \
	TestAChangingCommonPart \
	TestNewNamesAtEachRollout \
	TestObjectsWhoseOwnPartChanges \
	TestReportedMemoryOfPackedObjectsMatchesTheHeap \
	TestMemoryIsThatOfTheHeap \
	TestHandlersFoldToTheStore \
	TestKeysAreThoseOfAHandlersChanges \
	TestReuseLosesNothing \
	TestFencesOnEveryShortRow \
	TestTheSameSeedGivesTheSameTrace \
	TestWorlds \
	TestEachCheckerCanFail \
	TestEachCheckerOfOwnWritesCanFail \
	TestWorldsOfOwnWrites \
	TestLookingChangesNothing \
	TestPackedStoresDoNotAge
none :=
only := -run '^($(subst $(none) $(none),|,$(strip $(slow))))$$'
# With the race detector, the worlds can take longer than go test's ten minutes on a slow machine.
patience := 30m

# The race detector needs cgo, so the target builds cgo's runtime to find out whether it is available. go vet runs first,
# and the tests do not repeat it. Several packages run at a time, because some tests mostly wait. The longest run first.
test: ## vet the code and run all tests, with the race detector where goroutines meet
	$(GO) vet ./...
	@race=-race; $(GO) build -race runtime/cgo 2>/dev/null || { race=; \
	  echo "make test: no C compiler for cgo, so the tests run without the race detector"; }; \
	set -x; $(GO) test -vet=off -p 2 $(unraced) & beside=$$!; \
	$(GO) test -vet=off $$race -timeout $(patience) -p 4 ./reflector ./informer ./informer/internal/engine ./indexer $$($(GO) list ./... | grep -vxF "$$($(GO) list $(unraced))"); raced=$$?; \
	wait $$beside && exit $$raced

# make test-long runs slow concurrent tests with the race detector, and slow sequential tests without it. It runs the
# worlds twice: with the race detector and self-checks, and without both.
fewMeet := ./internal/gotype ./internal/jsondecode ./internal/ownwrites ./internal/process ./internal/protodecode ./internal/share ./internal/sharepass
long := TIDEMARK_LONG=1 $(GO) test -vet=off -timeout $(patience)
worlds := ./internal/testutil/sim
test-long: ## run what make test leaves out, and all simulated worlds
	$(GO) test -vet=off -race -timeout $(patience) $(fewMeet) ./examples/internal/programs
	$(long) -race $(only) ./indexer ./informer ./informer/informertest ./informer/internal/engine
	$(long) $(only) ./informer/internal/fences ./internal/pack ./reflector
	$(long) -race -run '^TestWorlds' $(worlds)
	$(GO) test -vet=off -timeout $(patience) $(only) -skip '^TestWorlds' $(worlds)
	TIDEMARK_VERIFY= $(long) -run '^TestWorlds' $(worlds)

sim: ## play the simulated world SEED, or SEEDS worlds from there on; V=1 prints their traces
	$(GO) test -count=1 -v -run '^TestWorlds$$' ./internal/testutil/sim -args -seed=$(or $(SEED),1) -seeds=$(or $(SEEDS),1) $(if $(V),-trace)

# Whatever is called Fuzz… is found. Runs of one input differ in what they reach,
# since maps and hashes do, so that making inputs smaller would take most of the time.
FUZZTIME ?= 20s

fuzz: ## run each fuzz target for FUZZTIME, one after another, and random bodies; FUZZ=name runs those of this name
	@set -e; packages=$$($(GO) list ./...); for p in $$packages; do \
	  names=$$($(GO) test -list '^Fuzz.*$(FUZZ)' $$p); \
	  for f in $$(printf '%s\n' "$$names" | grep '^Fuzz'); do \
	    (set -x; $(GO) test $$p -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s); \
	  done; \
	done
	case Bodies in *'$(FUZZ)'*) set -x; $(GO) test -count=1 -v -timeout 0 ./reflector -run '^TestBodies$$' -args -bodies=$(FUZZTIME);; esac

lint: ## run the linters of .golangci.yml at their pinned version
	$(GO) tool -modfile=.ci/lint/go.mod golangci-lint run ./...

tidy: ## check that go.mod and go.sum of each module are tidy
	@.ci/tidy

# These modules are separate, so that their dependencies do not reach users of the library. The module of the
# scenarios has its own target: e2e.
modules := internal/dropin internal/e2e/bench internal/e2e/alerts internal/e2e/controllerruntime controllerruntime examples/controllerruntime factory/metrics cmd/migrate cmd/compare

# The tests of the exported API read files outside of their module. go test does not see when those change, so it must
# not reuse a cached result.
test-modules: bench-test ## run the tests of the exported API, of the benchmarks and of controller-runtime on tidemark
	@set -e; for m in $(modules); do \
	  case $$m in internal/dropin) anew=-count=1;; *) anew=;; esac; \
	  (cd $$m && set -x && $(GO) vet ./... && $(GO) test $$anew ./...); done

test-newest-client-go: ## run the tests with the newest patch of client-go's minor version
	@.ci/newest

test-next-client-go: ## vet and test a copy that uses the pre-release of client-go in .ci/next/go.mod
	@.ci/next/in next sh -c '$(GO) vet ./... && $(GO) test ./factory/... ./informer ./informer/cache ./lister ./internal/testutil/conformance'

sizes: ## count the lines, exported names and members of the revision REF, by package
	@.ci/sizes $(or $(REF),HEAD)

# Start from the committed files, so that a name that was added and removed in between leaves no trace.
api: ## write down what is exported, in api/
	git restore --source=HEAD -- api
	cd internal/dropin && $(GO) test -count=1 -run '^TestAPIIsWrittenDown$$' . -args -rewrite
	git --no-pager diff --stat -- api

# Both revisions are read with the tool at its pinned version.
api-diff: ## compare what is exported with the revision REF, by the rules of apidiff
	@set -e; dir=$$(mktemp -d); trap 'git worktree remove --force "$$dir/old"; rm -rf "$$dir"' EXIT; \
	git worktree add --quiet --detach "$$dir/old" "$(or $(REF),HEAD)"; \
	(cd internal/dropin && $(GO) build -o "$$dir/apidiff" golang.org/x/exp/cmd/apidiff); \
	module=$$($(GO) list -m); \
	run() { "$$dir/apidiff" -m "$$@" $$module 2>"$$dir/notes" || { cat "$$dir/notes" >&2; exit 1; }; }; \
	(cd "$$dir/old" && run -w "$$dir/export"); \
	run "$$dir/export"

fmt: ## format all Go files
	gofmt -s -w .

cover: ## print the share of statements that the tests of each package reach
	$(GO) test -cover ./...

migrate-programs: ## move real programs to tidemark with cmd/migrate, and run their tests before and after; PROGRAM=name for one
	cmd/migrate/programs.sh

-include internal/e2e/bench/bench.mk
-include internal/e2e/controlplane/controlplane.mk
-include internal/e2e/faults/faults.mk
-include internal/e2e/controllerruntime/suite.mk
-include internal/e2e/clientgotests/clientgotests.mk
