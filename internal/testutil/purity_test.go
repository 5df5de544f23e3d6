package testutil_test

import (
	"path"
	"strings"
	"testing"
)

// impure lists the packages that a pure file must not import, with the reasons. The results of a pure
// file depend only on its inputs, so that tests can enumerate them.
var impure = []struct{ pkg, why string }{
	{"time", "time is part of inputs and actions"},
	{"sync/...", "its caller ensures that one goroutine at a time calls it"},
	{"context", "it never waits, so it needs no cancellation"},
	{"net/...", "its caller does the I/O"},
	{"k8s.io/client-go/...", "its caller talks to servers"},
	{"log/...", "events are actions, which its caller logs"},
	{"k8s.io/klog/...", "events are actions, which its caller logs"},
}

func TestMachinesArePure(t *testing.T) {
	report(t, purityProblems(repository(t)))
}

// isPure reports whether a file must be pure, because it only makes decisions.
func isPure(s *source) bool {
	if s.isTest() {
		return false
	}
	model, _ := path.Match("model*.go", s.base())
	return strings.HasPrefix(s.base(), "machine") || model && within("informer/informertest/...", s.folder())
}

func purityProblems(sources []*source) []string {
	var problems []string
	for _, s := range sources {
		if !isPure(s) {
			continue
		}
		for p, spec := range s.imports() {
			for _, ban := range impure {
				if within(ban.pkg, p) {
					problems = append(problems, s.problem(spec.Pos(), "a pure file must not import %s: %s", p, ban.why))
				}
			}
		}
	}
	return problems
}

func TestPurityRulesCanFail(t *testing.T) {
	importing := func(p string) string { return "package x\n\nimport _ \"" + p + "\"\n" }
	snippets := []snippet{
		{"a machine", "reflector/machine.go", importing("k8s.io/apimachinery/pkg/api/errors"), ""},
		{"the shell", "reflector/reflector.go", importing("time"), ""},
		{"a model elsewhere", "indexer/model.go", importing("time"), ""},
		{"a test", "informer/informertest/model_test.go", importing("time"), ""},
		{"a model", "informer/informertest/model_watch.go", importing("time"), "must not import time"},
		{"atomics", "reflector/machine.go", importing("sync/atomic"), "must not import sync/atomic"},
	}
	for _, ban := range impure {
		p := strings.TrimSuffix(ban.pkg, "/...")
		snippets = append(snippets, snippet{p, "reflector/machine.go", importing(p), ban.why})
	}
	try(t, snippets, purityProblems)
}
