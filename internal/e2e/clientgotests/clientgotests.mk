# client-go's own tests on this module; see doc.go in this folder. The root Makefile
# includes it.

clientgotests_dir := $(dir $(lastword $(MAKEFILE_LIST)))

.PHONY: test-clientgo

test-clientgo: ## run client-go's own tests on tidemark, and on client-go as a control; VERSION=v0.38.0-beta.0 for its tests of that version
	$(if $(VERSION),.ci/next/in $(VERSION) $(MAKE) $@ VERSION= LEAVEOUT=-leaveout,cd $(clientgotests_dir) && $(GO) vet . && $(GO) test . && $(GO) run . $(LEAVEOUT))
