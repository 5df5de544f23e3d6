package testutil_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An arrow lists the packages outside of the standard library that a package's files may import, and the
// reason. A package of this module is written as "./path".
type arrow struct {
	from string
	to   []string
	why  string
}

// labelsAndBelow stands for apimachinery/pkg/labels and its dependencies.
const labelsAndBelow = "labels and below"

const (
	apimachinery = "k8s.io/apimachinery/..."
	clientCache  = "k8s.io/client-go/tools/cache/..."
)

// arrows covers all packages. A package without an arrow fails the test. If several patterns match a
// package, the first one applies.
var arrows = []arrow{
	{
		from: "indexer",
		to:   []string{"./internal/verify", labelsAndBelow},
		why:  "the store knows keys, values and label selectors; a program that needs only a store should link nothing else",
	},
	{
		from: "indexer/refs",
		to:   []string{"./indexer", "./internal/gotype", apimachinery},
		why:  "it knows the types of k8s.io/api by their names, so that a program with one relation does not link all APIs",
	},
	{
		from: "shard",
		to:   []string{"k8s.io/apimachinery/pkg/sharding", "k8s.io/apimachinery/pkg/types"},
		why:  "a set knows hashes and how servers write them, but not the readers of objects",
	},
	{
		from: "deltafifo",
		to:   []string{"./internal/verify", "./indexer"},
		why:  "a queue moves its items without knowing Kubernetes",
	},
	{
		from: "reflector",
		to: []string{"./internal/verify", "./internal/object", "./internal/share", "./internal/fields", "./internal/ownwrites", "./internal/keeper",
			"./reflector/internal/wire", "./shard", "./indexer", "./deltafifo", apimachinery, clientCache,
			"k8s.io/client-go/dynamic", "k8s.io/client-go/metadata", "k8s.io/client-go/rest/...", "k8s.io/client-go/features", "k8s.io/client-go/util/watchlist"},
		why: "it reads any source, and writes to the Sink that it declares; it knows neither the implementations nor the bytes of an answer",
	},
	{
		from: "reflector/internal/wire",
		to: []string{"./internal/verify", "./internal/object", "./internal/share", "./internal/fields", "./internal/protodecode", "./internal/jsondecode", "./internal/gotype", "./internal/pack", "./shard", "./indexer", apimachinery,
			"k8s.io/client-go/rest/...", "k8s.io/client-go/features", "google.golang.org/protobuf/..."},
		why: "it turns the answer to one request into objects; the reflector decides which requests to send, and where the objects go",
	},
	{
		from: "lister",
		to:   []string{"./internal/verify", "./indexer", apimachinery},
		why:  "it reads a store, and does not know its writer",
	},
	{
		from: "informer",
		to: []string{"./internal/object", "./internal/report", "./internal/audit", "./shard", "./indexer", "./reflector", "./lister",
			"./informer/internal/engine", "./informer/internal/eventlog", "./informer/internal/delivery", "./informer/internal/clientgostore", "./informer/internal/limits",
			apimachinery, clientCache, "k8s.io/klog/v2"},
		why: "it is the typed API of the engine, and client-go's API; only the factory knows all kinds",
	},
	{
		from: "informer/internal/engine",
		to: []string{"./internal/verify", "./internal/object", "./internal/report", "./internal/pack", "./internal/share", "./internal/sharepass", "./internal/heapsize", "./internal/fields", "./internal/ownwrites", "./internal/keeper", "./internal/audit",
			"./shard", "./indexer", "./deltafifo", "./reflector", "./lister",
			"./informer/internal/eventlog", "./informer/internal/measure", "./informer/internal/delivery", "./informer/internal/fences", "./informer/internal/limits", apimachinery, "k8s.io/klog/v2"},
		why: "it fills the store of one kind and calls its handlers; package informer knows the types of objects, and client-go's API",
	},
	{
		from: "informer/internal/eventlog",
		to:   []string{"./internal/verify", "./internal/object", "./indexer"},
		why:  "a log of changes knows objects by keys and UIDs, and does not know its readers",
	},
	{
		from: "informer/internal/delivery",
		to:   []string{"./internal/object", "./indexer", "./informer/internal/eventlog", "./informer/internal/measure", apimachinery, "k8s.io/klog/v2"},
		why:  "it delivers a log to receivers; the informer knows handlers, and reports about them",
	},
	{
		from: "informer/internal/clientgostore",
		to:   []string{"./internal/object", "./indexer", clientCache, "k8s.io/klog/v2"},
		why:  "it presents a store as client-go's; the informer decides what a write means",
	},
	{
		from: "informer/internal/limits",
		why:  "it counts reports, and does not know their content",
	},
	{
		from: "informer/internal/fences",
		to:   []string{"./internal/object", "./internal/ownwrites", "./indexer"},
		why:  "it decides what a store shows; it changes no store, and knows neither log nor clock",
	},
	{
		from: "informer/internal/measure",
		to:   []string{"./internal/heapsize", "./indexer", "./informer/internal/eventlog"},
		why:  "it measures calls, events and objects, and does not know their owners",
	},
	{
		from: "informer/cache",
		to: []string{"./internal/verify", "./internal/object", "./internal/report", "./indexer", "./deltafifo", "./reflector", "./informer", apimachinery, clientCache,
			"k8s.io/klog/v2"},
		why: "it has the names of client-go's toolbox; the parts of informers are in package informer",
	},
	{
		from: "informer/informertest",
		to: []string{"./indexer", "./deltafifo", "./reflector", "./lister", "./informer", apimachinery,
			"k8s.io/api/...", "k8s.io/client-go/...", "gopkg.in/evanphx/json-patch.v4"},
		why: "the test kit does not need a factory, because tests can use it without one",
	},
	{
		from: "factory/internal/show",
		to:   []string{"./internal/object", "./indexer", "./reflector", "./informer", "./factory"},
		why:  "probe, page and metrics share one evaluation of a status, and hide the same details",
	},
	{
		from: "factory/readiness",
		to:   []string{"./informer", "./factory", "./factory/internal/show", "k8s.io/apimachinery/..."},
		why:  "a probe reads only the status of factories and informers",
	},
	{
		from: "factory/debug",
		to:   []string{"./indexer", "./reflector", "./informer", "./factory", "./factory/internal/show", "k8s.io/apimachinery/..."},
		why:  "a page shows only the status of factories and informers",
	},
	{
		from: "internal/gotype",
		to:   []string{apimachinery},
		why:  "it describes any type, and has rules only for types of apimachinery",
	},
	{
		from: "internal/heapsize",
		to:   []string{"./internal/gotype"},
		why:  "it walks through values of any type",
	},
	{
		from: "factory/metrics",
		to:   []string{"./reflector", "./informer", "./factory", "./factory/internal/show", "./factory/readiness", "k8s.io/apimachinery/...", "github.com/prometheus/..."},
		why:  "it exports the status of factories and informers to Prometheus, in a separate module",
	},
	{
		from: "factory",
		to:   []string{"./internal/verify", "./internal/object", "./internal/report", "./shard", "./indexer", "./reflector", "./informer", "./lister", apimachinery, "k8s.io/api/...", "k8s.io/client-go/...", "k8s.io/klog/v2"},
		why:  "it makes sources from clients, and informers and listers from sources; it does not know their parts",
	},
	{
		from: "factory/informers",
		to:   []string{"./factory", apimachinery, "k8s.io/client-go/..."},
		why:  "it has the names of client-go's package, and calls package factory for each one",
	},
	{
		from: "factory/dynamicinformer",
		to:   []string{"./factory", apimachinery, "k8s.io/client-go/..."},
		why:  "it has the names of client-go's package, and calls package factory for each one",
	},
	{
		from: "factory/metadatainformer",
		to:   []string{"./factory", apimachinery, "k8s.io/client-go/..."},
		why:  "it has the names of client-go's package, and calls package factory for each one",
	},
	{
		from: "factory/internalinterfaces",
		to:   []string{"k8s.io/client-go/informers/internalinterfaces"},
		why:  "it has the names of client-go's package, and nothing else",
	},
	{
		from: "factory/internal/kindgen",
		to:   []string{apimachinery, "k8s.io/client-go/kubernetes/...", "k8s.io/client-go/informers"},
		why:  "a generator reads client-go's clientset and accessors, and must run even if the package that it generates for does not compile",
	},
	{
		from: "controllerruntime",
		to: []string{"./shard", "./indexer/...", "./informer", "./reflector", "./factory", "./factory/debug", "./factory/metrics", "./factory/readiness", "./internal/object", "./controllerruntime/internal/place", apimachinery, "k8s.io/client-go/...",
			"github.com/prometheus/client_golang/...", "sigs.k8s.io/controller-runtime/..."},
		why: "it gives a manager informers, in a separate module; it does not know their parts",
	},
	{
		from: "controllerruntime/controllerruntimetest",
		to:   []string{"./informer/informertest", "sigs.k8s.io/controller-runtime"},
		why:  "it runs a manager against a server; the test makes the manager",
	},
	{
		from: "controllerruntime/internal/place",
		why:  "it knows functions, but not what they do",
	},
	{
		from: "examples/controllerruntime",
		to: []string{"./shard", "./indexer/...", "./informer/...", "./reflector", "./controllerruntime", "./examples/internal/demo", apimachinery, "k8s.io/api/...", "k8s.io/client-go/...",
			"k8s.io/klog/v2", "sigs.k8s.io/controller-runtime/..."},
		why: "it is a separate module, with the requirements of any user of controller-runtime",
	},
	{
		from: "examples/internal/demo",
		to:   []string{"./informer/informertest", apimachinery, "k8s.io/api/...", "k8s.io/client-go/..."},
		why:  "it finds or serves a cluster; the examples make the informers",
	},
	{
		from: "examples/...",
		to: []string{"./shard", "./indexer/...", "./deltafifo", "./reflector", "./lister", "./informer/...", "./factory", "./factory/debug", "./examples/internal/demo", apimachinery,
			"k8s.io/api/...", "k8s.io/client-go/...", "k8s.io/klog/v2"},
		why: "an example can be copied out of this repository, with the requirements of any user, and a rest.Config instead of examples/internal/demo",
	},
	{
		from: "cmd/migrate",
		to:   []string{"golang.org/x/tools/...", "golang.org/x/mod/...", "github.com/pmezard/go-difflib/..."},
		why:  "it edits the text of programs, in a separate module; it does not need the packages that it migrates them to",
	},
	{
		from: "cmd/compare",
		to: []string{"./internal/process", "./internal/testutil/kit/cluster", "./reflector", "./factory/...", "./informer/informertest", apimachinery, "k8s.io/client-go/...", "k8s.io/klog/v2",
			"golang.org/x/term"},
		why: "it is a separate module that uses both libraries as users do; its demo generates the same objects as the benchmarks",
	},
	{
		from: "internal/process",
		why:  "it starts and measures processes, and does not know what they do",
	},
	{
		from: "internal/dropin",
		why:  "it contains only tests, in a separate module",
	},
	{
		from: "internal/verify",
		why:  "every package may import it, so it imports no other package",
	},
	{
		from: "internal/report",
		to:   []string{apimachinery},
		why:  "it passes errors on, and does not know their origin",
	},
	{
		from: "internal/object",
		to:   []string{"./indexer", apimachinery},
		why:  "it knows what all objects have in common, but not its callers",
	},
	{
		from: "internal/encoding",
		to:   []string{"./indexer"},
		why:  "it passes on a codec of the store, and does not know its implementation",
	},
	{
		from: "internal/share",
		to:   []string{"./internal/verify"},
		why:  "a table knows bytes and values, but not their meaning",
	},
	{
		from: "internal/pack",
		to:   []string{"./internal/verify"},
		why:  "it knows bytes, and functions that read them",
	},
	{
		from: "internal/sharepass",
		to:   []string{"./internal/share", "./internal/gotype", apimachinery},
		why:  "it shares values of transformed objects, and does not know how they were decoded",
	},
	{
		from: "internal/fields",
		to:   []string{"./internal/gotype"},
		why:  "it has a tree of names for decoders of any encoding, and a walk through any object",
	},
	{
		from: "internal/protodecode",
		to:   []string{"./internal/verify", "./internal/share", "./internal/fields", "./internal/gotype", apimachinery},
		why:  "it decodes any type by its tags, and knows only types of apimachinery without tags",
	},
	{
		from: "internal/jsondecode",
		to:   []string{"./internal/verify", "./internal/object", "./internal/share", "./internal/fields", "./internal/gotype", apimachinery},
		why:  "it turns bytes into objects; it knows neither the source of the bytes nor the store of the objects",
	},
	{
		from: "internal/ownwrites",
		to:   []string{"./internal/object", "./internal/fields", "./internal/jsondecode", "./internal/protodecode", "./indexer", apimachinery},
		why:  "it says what requests and answers mean; it knows neither their sender nor the store of the objects",
	},
	{
		from: "internal/keeper",
		to:   []string{"./internal/object", "./internal/ownwrites", "./internal/pack", "./internal/share", "./indexer", "./deltafifo"},
		why:  "it is an interface between two packages that do not know each other",
	},
	{
		from: "internal/audit",
		to:   []string{"./internal/object", "./indexer", apimachinery, clientCache},
		why:  "it compares the content of an informer with a server; it does not know the informer's parts",
	},
	{
		from: "internal/e2e/launch/...",
		to:   []string{"./internal/e2e/launch"},
		why:  "a command that starts servers does not compile Kubernetes",
	},
	{
		from: "internal/testutil/...",
		to: []string{"./shard", "./indexer", "./deltafifo", "./reflector", "./lister", "./informer/...", "./factory", "./internal/...", apimachinery,
			"k8s.io/api/...", "k8s.io/client-go/...", "k8s.io/klog/v2/...", "github.com/stretchr/testify/...", "go.uber.org/goleak"},
		why: "shared parts of tests may import only what the tests import",
	},
}

// A ban is a package that another package must not import, directly or indirectly, and the reason.
type ban struct{ from, to, why string }

var bans = []ban{
	{"./indexer", "k8s.io/client-go/...", "a store does not talk to servers"},
	{"./indexer", "net/http", "a store does not talk to servers"},
	{"./indexer", "./indexer/refs", "a relation is an index like any other; a store has no built-in relations"},
	{"./indexer/refs", "k8s.io/api/...", "a program with one relation should not link all APIs"},
	{"./shard", "k8s.io/client-go/...", "a set does not talk to servers"},
	{"./deltafifo", "k8s.io/client-go/...", "a queue does not talk to servers"},
	{"./lister", "k8s.io/client-go/...", "a lister does not talk to servers"},
	{"./lister", "./deltafifo", "a lister sees what was applied, not what is queued"},
	{"./lister", "./reflector", "a lister reads a store, and does not know its writer"},
	{"./lister", "./informer/...", "a lister reads a store, and does not know its writer"},
	{"./reflector", "./lister", "a reflector writes to its Sink, and does not read it"},
	{"./reflector", "./informer/...", "a reflector knows only its own interface Sink"},
	{"./reflector", "k8s.io/client-go/kubernetes/...", "a program with one kind should not link the clients of all kinds"},
	{"./informer", "k8s.io/client-go/kubernetes/...", "a program with one kind should not link the clients of all kinds"},
	{"./informer", "k8s.io/client-go/informers/...", "a program with one kind should not link the informers of all kinds"},
	{"./informer", "./informer/informertest", "production code does not link the test kit"},
	{"./informer", "./informer/cache", "informers do not use client-go's toolbox"},
	{"./informer", "./factory", "a factory makes informers, not the other way around"},
	{"./factory", "./informer/informertest", "production code does not link the test kit"},
	{"./informer", "testing", "production code does not link package testing"},
	{"./factory", "testing", "production code does not link package testing"},
}

func TestArrowsPointOneWay(t *testing.T) {
	labels := strings.Fields(goTool(t, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "k8s.io/apimachinery/pkg/labels"))
	report(t, arrowProblems(repository(t), arrows, labels))
	report(t, banProblems(dependencies(t), bans))
}

// arrowProblems checks the imports of all files except tests, regardless of build constraints. It checks
// every package, and so it also covers imports through other packages of this module.
func arrowProblems(sources []*source, arrows []arrow, labels []string) []string {
	var problems []string
	for _, s := range sources {
		if s.isTest() {
			continue
		}
		i := slices.IndexFunc(arrows, func(a arrow) bool { return within(a.from, s.folder()) })
		if i < 0 {
			problems = append(problems, s.problem(s.file.Package, "the list of arrows in deps_test.go does not have package %s", s.folder()))
			continue
		}
		for p, spec := range s.imports() {
			local := relative(p)
			switch {
			case standard(p), withinAny(arrows[i].to, local):
			case slices.Contains(arrows[i].to, labelsAndBelow) && slices.Contains(labels, p):
			default:
				problems = append(problems, s.problem(spec.Pos(), "%s must not import %s: %s", s.folder(), local, arrows[i].why))
			}
		}
	}
	return problems
}

// banProblems checks the packages that each package imports, directly or indirectly.
func banProblems(reached map[string][]string, bans []ban) []string {
	var problems []string
	for _, b := range bans {
		for _, p := range reached[b.from] {
			if within(b.to, relative(p)) {
				problems = append(problems, b.from+" reaches "+relative(p)+": "+b.why)
			}
		}
	}
	return problems
}

// relative writes a path of this module as "./path". It returns other paths unchanged.
func relative(p string) string {
	if below, ok := strings.CutPrefix(p, module+"/"); ok {
		return "./" + below
	}
	return p
}

// standard reports whether a path is in the standard library.
func standard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

// dependencies returns the dependencies of all packages of the module, by import path.
func dependencies(t *testing.T) map[string][]string {
	t.Helper()
	reached := map[string][]string{}
	d := json.NewDecoder(strings.NewReader(goTool(t, "list", "-e", "-json=ImportPath,Deps", "./...")))
	for {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return reached
		} else if err != nil {
			t.Fatal(err)
		}
		reached[relative(p.ImportPath)] = p.Deps
	}
}

// goTool runs the go command in the module's root and returns its output.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Stderr = root, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// Each direct requirement of the root module has a row with its reason in a table of CONTRIBUTING.md.
func TestDependenciesHaveAReason(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, requirementProblems(string(gomod), string(text)))
}

func requirementProblems(gomod, contributing string) []string {
	var problems []string
	for line := range strings.Lines(gomod) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) != 2 || !strings.HasPrefix(fields[1], "v") {
			continue // not a requirement, or a requirement with the comment "// indirect"
		}
		if !strings.Contains(contributing, "\n| `"+fields[0]+"` |") {
			problems = append(problems, "go.mod requires "+fields[0]+", but CONTRIBUTING.md gives no reason")
		}
	}
	return problems
}

func TestArrowRulesCanFail(t *testing.T) {
	labels := []string{"k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/selection"}
	importing := func(p string) string { return "package x\n\nimport _ \"" + p + "\"\n" }
	try(t, []snippet{
		{"the standard library", "indexer/a.go", importing("net/netip"), ""},
		{"an allowed arrow", "deltafifo/a.go", importing(module + "/indexer"), ""},
		{"labels", "indexer/a.go", importing("k8s.io/apimachinery/pkg/selection"), ""},
		{"a test may import it", "indexer/a_test.go", importing(module + "/informer"), ""},
		{"all but labels", "indexer/a.go", importing("k8s.io/apimachinery/pkg/runtime"), "indexer must not import k8s.io/apimachinery/pkg/runtime: the store knows"},
		{"labels for others", "deltafifo/a.go", importing("k8s.io/apimachinery/pkg/labels"), "deltafifo must not import"},
		{"against the arrow", "reflector/a.go", importing(module + "/informer"), "reflector must not import ./informer"},
		{"past the arrow", "factory/a.go", importing(module + "/deltafifo"), "factory must not import ./deltafifo"},
		{"a test kit in production", "informer/a.go", importing(module + "/informer/informertest"), "informer must not import"},
		{"an example with an internal import", "examples/podwatch/main.go", importing(module + "/internal/verify"), "can be copied"},
		{"a new dependency", "informer/a.go", importing("example.com/x"), "informer must not import example.com/x"},
		{"an unlisted package", "util/a.go", "package util\n", "does not have package util"},
	}, func(s []*source) []string { return arrowProblems(s, arrows, labels) })
}

func TestBansCanFail(t *testing.T) {
	for _, b := range bans {
		to := strings.TrimSuffix(b.to, "/...")
		if below, ok := strings.CutPrefix(to, "./"); ok {
			to = module + "/" + below
		}
		expect(t, banProblems(map[string][]string{b.from: {"fmt", to}}, []ban{b}), b.why)
	}
}

func TestRequirementRuleCanFail(t *testing.T) {
	const gomod = "module m\n\ngo 1.26.0\n\nrequire a.io/one v1.0.0\n\nrequire (\n\ta.io/two v0.1.0\n\ta.io/three v0.1.0 // indirect\n)\n"
	expect(t, requirementProblems(gomod, "\n| `a.io/one` | a |\n| `a.io/two` | b |\n"), "")
	expect(t, requirementProblems(gomod, "\n| `a.io/one` | a |\n"), "a.io/two")
	expect(t, requirementProblems(gomod, "\n| `a.io/two` | a |\n"), "a.io/one")
}
