package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// outcome is the result of a folder's tests on a target.
type outcome struct {
	passed int
	failed map[string]string // the output of failed tests and subtests, by name
	broken map[string]string // the errors of tests that do not compile, by name
	units  map[*unit]string  // the errors of all units that do not compile, including helpers
}

// all yields the tests that did not pass, with the reason.
func (o outcome) all() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, m := range []map[string]string{o.failed, o.broken} {
			for name, why := range m {
				if !yield(name, why) {
					return
				}
			}
		}
	}
}

// runOn builds the tests for a target, and runs each test whose name contains only.
func runOn(s *source, t target, work, only string) (outcome, error) {
	o := outcome{failed: make(map[string]string), broken: make(map[string]string)}
	b := &build{source: s, target: t, work: filepath.Join(work, s.path), broken: make(map[*unit]string)}
	binary, err := b.build()
	if err != nil {
		return o, err
	}
	o.units = b.broken
	names := make(chan string)
	var (
		mu      sync.Mutex
		runners sync.WaitGroup
	)
	for range 2 {
		runners.Go(func() {
			for name := range names {
				failed := runTest(binary, s.dir(), name)
				for range t.repeats(s.path + "." + name) {
					if len(failed) > 0 {
						failed = runTest(binary, s.dir(), name)
					}
				}
				mu.Lock()
				if len(failed) == 0 {
					o.passed++
				}
				for n, why := range failed {
					o.failed[n] = why
				}
				mu.Unlock()
			}
		})
	}
	for _, u := range s.units {
		if u.kind != aTest || u.uses == unexported || !strings.Contains(u.names[0].Name(), only) {
			continue
		}
		if why, ok := b.broken[u]; ok {
			mu.Lock()
			o.broken[u.names[0].Name()] = why
			mu.Unlock()
			continue
		}
		names <- u.names[0].Name()
	}
	close(names)
	runners.Wait()
	return o, nil
}

// repeats returns how often a failed test is repeated. Some tests depend on the clock, and fail several
// times on a busy machine. A failure on client-go itself says nothing about this module.
func (t target) repeats(test string) int {
	switch {
	case t == control:
		return 5
	case isListed(test):
		return 0
	default:
		return 1
	}
}

// dir is the folder that the tests expect to run in.
func (s *source) dir() string { return filepath.Dir(s.files[0].name) }

// build makes a binary of the tests that compile.
type build struct {
	*source
	target target
	work   string
	broken map[*unit]string // why a unit does not compile
}

// maxBuilds limits the number of builds. Each build leaves out the units that failed to compile in the
// previous one. A few builds are enough, because a helper is left out together with the units that need
// it.
const maxBuilds = 20

func (b *build) build() (binary string, err error) {
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return "", err
	}
	binary = filepath.Join(b.work, "tests")
	for range maxBuilds {
		files := b.files()
		overlay, pkg, err := b.overlay(files)
		if err != nil {
			return "", err
		}
		said, err := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay="+overlay, "-o", binary, "./"+pkg).CombinedOutput()
		if err == nil {
			return binary, nil
		}
		if !b.leaveOut(files, said) {
			return "", fmt.Errorf("%w:\n%s", err, said)
		}
	}
	return "", fmt.Errorf("%s: still does not compile after %d attempts", b.path, maxBuilds)
}

func (b *build) kept(u *unit) bool {
	_, broken := b.broken[u]
	return u.kind != benchmark && u.uses == exportedOnly && !broken
}

func (b *build) files() (files []written) {
	for _, f := range b.source.files {
		if w := b.write(f, b.target, b.kept); len(w.lines) > 0 {
			files = append(files, w)
		}
	}
	return files
}

// overlay writes the files, and an overlay with which the go command treats them as a package of this
// module.
func (b *build) overlay(files []written) (name, pkg string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	pkg = filepath.Join("run", string(b.target), b.path)
	replace := make(map[string]string)
	for _, f := range files {
		to := filepath.Join(b.work, f.name)
		if err := os.WriteFile(to, f.text, 0o644); err != nil {
			return "", "", err
		}
		replace[filepath.Join(here, pkg, f.name)] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", "", err
	}
	name = filepath.Join(b.work, "overlay.json")
	return name, pkg, os.WriteFile(name, text, 0o644)
}

// compileError matches a line in which the compiler reports an error in a test file.
var compileError = regexp.MustCompile(`(?m)^\S*?([\w.-]+_test\.go):(\d+):\d+: (.*)$`)

// leaveOut leaves out each unit with a compile error, and each unit that needs such a unit. It returns
// false if there is none.
func (b *build) leaveOut(files []written, said []byte) bool {
	before := len(b.broken)
	for _, m := range compileError.FindAllSubmatch(said, -1) {
		line, _ := strconv.Atoi(string(m[2]))
		for _, f := range files {
			for _, l := range f.lines {
				if f.name == string(m[1]) && l.first <= line && line <= l.last {
					b.broken[l.unit] = string(m[3])
				}
			}
		}
	}
	b.spread(func(u *unit) bool { return b.broken[u] != "" }, func(u, from *unit) { b.broken[u] = b.broken[from] })
	return len(b.broken) > before
}

// testTimeout limits the time of a test.
const testTimeout = "60s"

// verdict matches the line that ends a test.
var verdict = regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL|SKIP): (\S+)`)

// runTest runs a test in a separate process. If the test fails, runTest returns its output, or the
// output of its failed subtests.
func runTest(binary, dir, name string) map[string]string {
	cmd := exec.Command(binary, "-test.run=^"+name+"$", "-test.v", "-test.timeout="+testTimeout)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	return verdicts(said, name)
}

// verdicts returns the failed tests and subtests in the output of a test, without the parents of failed
// subtests.
func verdicts(said []byte, name string) map[string]string {
	failed := make(map[string]string)
	for _, m := range verdict.FindAllSubmatch(said, -1) {
		if n := string(m[2]); string(m[1]) == "FAIL" {
			failed[n] = tail(section(said, n))
		}
	}
	for n := range failed {
		for i := strings.LastIndexByte(n, '/'); i > 0; i = strings.LastIndexByte(n[:i], '/') {
			delete(failed, n[:i])
		}
	}
	if len(failed) == 0 { // the test crashed or left goroutines behind
		failed[name] = tail(said)
	}
	return failed
}

// section returns the part of the output that belongs to a test or subtest.
func section(said []byte, name string) []byte {
	const begin = "=== RUN   "
	_, from, _ := bytes.Cut(said, []byte(begin+name+"\n"))
	section, _, _ := bytes.Cut(from, []byte(begin))
	return section
}

// tail returns the end of a test's output.
func tail(said []byte) string {
	const most = 3000
	return string(said[max(0, len(said)-most):])
}
