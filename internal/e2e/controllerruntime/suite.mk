# controller-runtime's own tests of its cache, on tidemark and a real
# kube-apiserver. The root Makefile includes it.

suite_dir := $(dir $(lastword $(MAKEFILE_LIST)))
SUITEFLAGS ?=

.PHONY: e2e-controllerruntime

e2e-controllerruntime: ## run controller-runtime's own cache tests on tidemark (with BUDGET: on packed objects); SUITEFLAGS are passed to the tests, such as -ginkgo.focus=Get
	$(suite_dir)suite.sh $(SUITEFLAGS)
