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

// An arrow lists the packages outside the standard library that the files of a
// package may import, and gives the reason. Packages of this module are written
// "./path".
type arrow struct {
	from string
	to   []string
	why  string
}

// labelsAndBelow stands in an arrow for apimachinery/pkg/labels and its
// dependencies.
const labelsAndBelow = "labels and below"

const (
	apimachinery = "k8s.io/apimachinery/..."
	clientCache  = "k8s.io/client-go/tools/cache/..."
)

// arrows covers all packages: a package without an arrow fails the test. If
// several patterns match a package, the first counts.
var arrows = []arrow{
	{
		from: "indexer",
		to:   []string{"./internal/verify", labelsAndBelow},
		why:  "the store knows keys, values and label selectors; who wants only a store should link nothing else",
	},
	{
		from: "indexer/refs",
		to:   []string{"./indexer", "./internal/gotype", apimachinery},
		why:  "it knows the types of k8s.io/api by their names: who asks for one relation should not link all APIs",
	},
	{
		from: "shard",
		to:   []string{"k8s.io/apimachinery/pkg/sharding", "k8s.io/apimachinery/pkg/types"},
		why:  "a set knows hashes, and the server's spelling of them; who reads what is not its affair",
	},
	{
		from: "deltafifo",
		to:   []string{"./internal/verify", "./indexer"},
		why:  "a queue moves what it is given and needs no Kubernetes for it",
	},
	{
		from: "reflector",
		to: []string{"./internal/verify", "./internal/object", "./internal/share", "./internal/fields", "./internal/ownwrites", "./internal/keeper",
			"./reflector/internal/wire", "./shard", "./indexer", "./deltafifo", apimachinery, clientCache,
			"k8s.io/client-go/dynamic", "k8s.io/client-go/metadata", "k8s.io/client-go/rest/...", "k8s.io/client-go/features", "k8s.io/client-go/util/watchlist"},
		why: "it reads any source and writes to the Sink that it declares; what stands behind either is not its affair, nor are the bytes of an answer",
	},
	{
		from: "reflector/internal/wire",
		to: []string{"./internal/verify", "./internal/object", "./internal/share", "./internal/fields", "./internal/protodecode", "./internal/jsondecode", "./internal/gotype", "./internal/pack", "./shard", "./indexer", apimachinery,
			"k8s.io/client-go/rest/...", "k8s.io/client-go/features", "google.golang.org/protobuf/..."},
		why: "it makes objects of the answer to one request; which requests to send, and where the objects go, is the reflector's affair",
	},
	{
		from: "lister",
		to:   []string{"./internal/verify", "./indexer", apimachinery},
		why:  "it reads a store, whoever fills it",
	},
	{
		from: "informer",
		to: []string{"./internal/object", "./internal/report", "./internal/audit", "./shard", "./indexer", "./reflector", "./lister",
			"./informer/internal/engine", "./informer/internal/eventlog", "./informer/internal/delivery", "./informer/internal/clientgostore", "./informer/internal/limits",
			apimachinery, clientCache, "k8s.io/klog/v2"},
		why: "it is the typed face of the engine, and client-go's; knowing all kinds is the factory's part",
	},
	{
		from: "informer/internal/engine",
		to: []string{"./internal/verify", "./internal/object", "./internal/report", "./internal/pack", "./internal/share", "./internal/sharepass", "./internal/heapsize", "./internal/fields", "./internal/ownwrites", "./internal/keeper", "./internal/audit",
			"./shard", "./indexer", "./deltafifo", "./reflector", "./lister",
			"./informer/internal/eventlog", "./informer/internal/measure", "./informer/internal/delivery", "./informer/internal/fences", "./informer/internal/limits", apimachinery, "k8s.io/klog/v2"},
		why: "it keeps the store of one kind and tells its handlers; the types of objects, and client-go's API, are the face's affair",
	},
	{
		from: "informer/internal/eventlog",
		to:   []string{"./internal/verify", "./internal/object", "./indexer"},
		why:  "a log of changes knows objects by their keys and UIDs; who reads it is not its affair",
	},
	{
		from: "informer/internal/delivery",
		to:   []string{"./internal/object", "./indexer", "./informer/internal/eventlog", "./informer/internal/measure", apimachinery, "k8s.io/klog/v2"},
		why:  "it delivers a log to whoever receives; handlers, and what users hear of them, are the informer's",
	},
	{
		from: "informer/internal/clientgostore",
		to:   []string{"./internal/object", "./indexer", clientCache, "k8s.io/klog/v2"},
		why:  "it shows a store as client-go's; what a write means for an informer is the informer's affair",
	},
	{
		from: "informer/internal/limits",
		why:  "it counts what is reported, whatever it is",
	},
	{
		from: "informer/internal/fences",
		to:   []string{"./internal/object", "./internal/ownwrites", "./indexer"},
		why:  "it decides what a store shows; it changes none, and knows neither log nor clock",
	},
	{
		from: "informer/internal/measure",
		to:   []string{"./internal/heapsize", "./indexer", "./informer/internal/eventlog"},
		why:  "it measures calls, events and objects; whose they are is not its affair",
	},
	{
		from: "informer/cache",
		to: []string{"./internal/verify", "./internal/object", "./internal/report", "./indexer", "./deltafifo", "./reflector", "./informer", apimachinery, clientCache,
			"k8s.io/klog/v2"},
		why: "it is client-go's toolbox, by name; what informers are made of is in package informer",
	},
	{
		from: "informer/informertest",
		to: []string{"./internal/verify", "./indexer", "./deltafifo", "./reflector", "./lister", "./informer", apimachinery,
			"k8s.io/api/...", "k8s.io/client-go/...", "gopkg.in/evanphx/json-patch.v4"},
		why: "the test kit stands beside the factory and serves tests that do not use one",
	},
	{
		from: "factory/internal/show",
		to:   []string{"./internal/object", "./indexer", "./reflector", "./informer", "./factory"},
		why:  "probe, page and metrics judge a status once, and hide the same",
	},
	{
		from: "factory/readiness",
		to:   []string{"./informer", "./factory", "./factory/internal/show", "k8s.io/apimachinery/..."},
		why:  "a probe reads what factories and informers tell of themselves",
	},
	{
		from: "factory/debug",
		to:   []string{"./indexer", "./reflector", "./informer", "./factory", "./factory/internal/show", "k8s.io/apimachinery/..."},
		why:  "a page shows what factories and informers tell of themselves",
	},
	{
		from: "internal/gotype",
		to:   []string{apimachinery},
		why:  "it describes any type, and knows those of apimachinery with rules of their own",
	},
	{
		from: "internal/heapsize",
		to:   []string{"./internal/gotype"},
		why:  "it walks through values of any type",
	},
	{
		from: "factory/metrics",
		to:   []string{"./reflector", "./informer", "./factory", "./factory/internal/show", "./factory/readiness", "k8s.io/apimachinery/...", "github.com/prometheus/..."},
		why:  "it tells Prometheus what factories and informers tell of themselves, and is a module of its own",
	},
	{
		from: "factory",
		to:   []string{"./internal/verify", "./internal/object", "./internal/report", "./shard", "./indexer", "./reflector", "./informer", "./lister", apimachinery, "k8s.io/api/...", "k8s.io/client-go/...", "k8s.io/klog/v2"},
		why:  "it composes informers and listers over the sources that it makes of clients; what they are made of is their affair",
	},
	{
		from: "factory/informers",
		to:   []string{"./factory", apimachinery, "k8s.io/client-go/..."},
		why:  "it is client-go's package by name, and calls package factory for each",
	},
	{
		from: "factory/dynamicinformer",
		to:   []string{"./factory", apimachinery, "k8s.io/client-go/..."},
		why:  "it is client-go's package by name, and calls package factory for each",
	},
	{
		from: "factory/metadatainformer",
		to:   []string{"./factory", apimachinery, "k8s.io/client-go/..."},
		why:  "it is client-go's package by name, and calls package factory for each",
	},
	{
		from: "factory/internalinterfaces",
		to:   []string{"k8s.io/client-go/informers/internalinterfaces"},
		why:  "it is client-go's package by name, and has nothing of its own",
	},
	{
		from: "factory/internal/kindgen",
		to:   []string{apimachinery, "k8s.io/client-go/kubernetes/...", "k8s.io/client-go/informers"},
		why:  "a generator reads client-go's clientset and accessors, and must run while the package that it generates for does not compile",
	},
	{
		from: "controllerruntime",
		to: []string{"./shard", "./indexer/...", "./informer", "./reflector", "./factory", "./factory/debug", "./factory/metrics", "./factory/readiness", "./internal/object", "./controllerruntime/internal/place", apimachinery, "k8s.io/client-go/...",
			"github.com/prometheus/client_golang/...", "sigs.k8s.io/controller-runtime/..."},
		why: "it gives a manager informers, in a module of its own; what they are made of is their affair",
	},
	{
		from: "controllerruntime/controllerruntimetest",
		to:   []string{"./informer/informertest", "sigs.k8s.io/controller-runtime"},
		why:  "it runs a manager against a server; how the manager is made is the test's affair",
	},
	{
		from: "controllerruntime/internal/place",
		why:  "it knows functions, whatever they do",
	},
	{
		from: "examples/controllerruntime",
		to: []string{"./shard", "./indexer/...", "./informer/...", "./reflector", "./controllerruntime", "./examples/internal/demo", apimachinery, "k8s.io/api/...", "k8s.io/client-go/...",
			"k8s.io/klog/v2", "sigs.k8s.io/controller-runtime/..."},
		why: "it is a module of its own, with what a user of controller-runtime has anyway",
	},
	{
		from: "examples/internal/demo",
		to:   []string{"./informer/informertest", apimachinery, "k8s.io/api/...", "k8s.io/client-go/..."},
		why:  "it finds a cluster, or serves one; the informers are the examples' own",
	},
	{
		from: "examples/...",
		to: []string{"./shard", "./indexer/...", "./deltafifo", "./reflector", "./lister", "./informer/...", "./factory", "./factory/debug", "./examples/internal/demo", apimachinery,
			"k8s.io/api/...", "k8s.io/client-go/...", "k8s.io/klog/v2"},
		why: "an example can be copied out of this repository, with the requirements that everybody has and a rest.Config in place of examples/internal/demo",
	},
	{
		from: "cmd/migrate",
		to:   []string{"golang.org/x/tools/...", "golang.org/x/mod/...", "github.com/pmezard/go-difflib/..."},
		why:  "it moves programs by their text, in a module of its own: it needs nothing of what it moves them to",
	},
	{
		from: "cmd/compare",
		to: []string{"./internal/process", "./internal/testutil/kit/cluster", "./reflector", "./factory/...", "./informer/informertest", apimachinery, "k8s.io/client-go/...", "k8s.io/klog/v2",
			"golang.org/x/term"},
		why: "it is a module of its own, and runs both libraries as their users do; its demo makes up objects like the benchmarks",
	},
	{
		from: "internal/process",
		why:  "it starts and measures processes, whatever they do",
	},
	{
		from: "internal/dropin",
		why:  "it has nothing but tests, in a module of its own",
	},
	{
		from: "internal/verify",
		why:  "every package may import it, so it imports none",
	},
	{
		from: "internal/report",
		to:   []string{apimachinery},
		why:  "it passes errors on, whosesoever they are",
	},
	{
		from: "internal/object",
		to:   []string{"./indexer", apimachinery},
		why:  "it knows what every object has in common, and who asks is not its affair",
	},
	{
		from: "internal/encoding",
		to:   []string{"./indexer"},
		why:  "it hands on a codec of the store, whoever wrote it",
	},
	{
		from: "internal/share",
		to:   []string{"./internal/verify"},
		why:  "a table knows bytes and values, not what they mean",
	},
	{
		from: "internal/pack",
		to:   []string{"./internal/verify"},
		why:  "it knows bytes, and the functions that read them",
	},
	{
		from: "internal/sharepass",
		to:   []string{"./internal/share", "./internal/gotype", apimachinery},
		why:  "it shares what a transform has left, whoever decoded it",
	},
	{
		from: "internal/fields",
		to:   []string{"./internal/gotype"},
		why:  "a tree of names, which decoders of any encoding read, and a walk through any object",
	},
	{
		from: "internal/protodecode",
		to:   []string{"./internal/verify", "./internal/share", "./internal/fields", "./internal/gotype", apimachinery},
		why:  "it decodes any type by its tags, and knows those of apimachinery that have no tags",
	},
	{
		from: "internal/jsondecode",
		to:   []string{"./internal/verify", "./internal/object", "./internal/share", "./internal/fields", "./internal/gotype", apimachinery},
		why:  "it turns bytes into objects, whoever reads the bytes and keeps the objects",
	},
	{
		from: "internal/ownwrites",
		to:   []string{"./internal/object", "./internal/fields", "./internal/jsondecode", "./internal/protodecode", "./indexer", apimachinery},
		why:  "it says what requests and answers mean; who sends them, and who stores the objects, is not its affair",
	},
	{
		from: "internal/keeper",
		to:   []string{"./internal/object", "./internal/ownwrites", "./internal/pack", "./internal/share", "./indexer", "./deltafifo"},
		why:  "it is one interface between two packages; neither knows the other by it",
	},
	{
		from: "internal/audit",
		to:   []string{"./internal/object", "./indexer", apimachinery, clientCache},
		why:  "it compares what an informer says of itself with a server; how the informer came by it is not its affair",
	},
	{
		from: "internal/e2e/launch/...",
		to:   []string{"./internal/e2e/launch"},
		why:  "a command that starts servers compiles nothing of Kubernetes",
	},
	{
		from: "internal/testutil/...",
		to: []string{"./shard", "./indexer", "./deltafifo", "./reflector", "./lister", "./informer/...", "./factory", "./internal/...", apimachinery,
			"k8s.io/api/...", "k8s.io/client-go/...", "k8s.io/klog/v2/...", "github.com/stretchr/testify/...", "go.uber.org/goleak"},
		why: "shared parts of tests need what the tests need, and no more",
	},
}

// A ban names a package that another must not import, directly or through other
// packages, and gives the reason.
type ban struct{ from, to, why string }

var bans = []ban{
	{"./indexer", "k8s.io/client-go/...", "a store talks to no server"},
	{"./indexer", "net/http", "a store talks to no server"},
	{"./indexer", "./indexer/refs", "a relation is an index as any other; a store knows none of its own"},
	{"./indexer/refs", "k8s.io/api/...", "who asks for one relation should not link all APIs"},
	{"./shard", "k8s.io/client-go/...", "a set talks to no server"},
	{"./deltafifo", "k8s.io/client-go/...", "a queue talks to no server"},
	{"./lister", "k8s.io/client-go/...", "a lister talks to no server"},
	{"./lister", "./deltafifo", "a lister sees what was applied, not what is queued"},
	{"./lister", "./reflector", "a lister reads a store, whoever fills it"},
	{"./lister", "./informer/...", "a lister reads a store, whoever fills it"},
	{"./reflector", "./lister", "a reflector writes to its Sink and reads nothing back"},
	{"./reflector", "./informer/...", "a reflector knows only the Sink that it declares itself"},
	{"./reflector", "k8s.io/client-go/kubernetes/...", "a user of one kind should not link the clients of all"},
	{"./informer", "k8s.io/client-go/kubernetes/...", "a user of one kind should not link the clients of all"},
	{"./informer", "k8s.io/client-go/informers/...", "a user of one kind should not link the informers of all"},
	{"./informer", "./informer/informertest", "production code does not link the test kit"},
	{"./informer", "./informer/cache", "no informer uses client-go's toolbox"},
	{"./informer", "./factory", "a factory makes informers, not the other way round"},
	{"./factory", "./informer/informertest", "production code does not link the test kit"},
	{"./informer", "testing", "production code does not link package testing"},
	{"./factory", "testing", "production code does not link package testing"},
}

func TestArrowsPointOneWay(t *testing.T) {
	labels := strings.Fields(goTool(t, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "k8s.io/apimachinery/pkg/labels"))
	report(t, arrowProblems(repository(t), arrows, labels))
	report(t, banProblems(dependencies(t), bans))
}

// arrowProblems checks the imports of all files but tests, whatever their build
// constraints. It checks every package, so that imports through other packages of
// this module are checked too.
func arrowProblems(sources []*source, arrows []arrow, labels []string) []string {
	var problems []string
	for _, s := range sources {
		if s.isTest() {
			continue
		}
		i := slices.IndexFunc(arrows, func(a arrow) bool { return within(a.from, s.folder()) })
		if i < 0 {
			problems = append(problems, s.problem(s.file.Package, "the list of arrows in deps_test.go does not know package %s", s.folder()))
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

// banProblems checks the packages that each package imports, directly or through
// others.
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

// relative writes a path of this module as "./path", and returns all other paths
// unchanged.
func relative(p string) string {
	if below, ok := strings.CutPrefix(p, module+"/"); ok {
		return "./" + below
	}
	return p
}

// standard reports whether a path belongs to the standard library.
func standard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

// dependencies returns the dependencies of every package of the module, by import path.
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

// goTool runs the go command at the module's root and returns its output.
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

// Each direct requirement of the root module has a row with its reason in a table
// of CONTRIBUTING.md.
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
			problems = append(problems, "go.mod requires "+fields[0]+", for which CONTRIBUTING.md gives no reason")
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
		{"a test is free", "indexer/a_test.go", importing(module + "/informer"), ""},
		{"all but labels", "indexer/a.go", importing("k8s.io/apimachinery/pkg/runtime"), "indexer must not import k8s.io/apimachinery/pkg/runtime: the store knows"},
		{"labels for others", "deltafifo/a.go", importing("k8s.io/apimachinery/pkg/labels"), "deltafifo must not import"},
		{"against the arrow", "reflector/a.go", importing(module + "/informer"), "reflector must not import ./informer"},
		{"past the arrow", "factory/a.go", importing(module + "/deltafifo"), "factory must not import ./deltafifo"},
		{"a test kit in production", "informer/a.go", importing(module + "/informer/informertest"), "informer must not import"},
		{"an example with an internal import", "examples/podwatch/main.go", importing(module + "/internal/verify"), "can be copied"},
		{"a new dependency", "informer/a.go", importing("example.com/x"), "informer must not import example.com/x"},
		{"a package nobody knows", "util/a.go", "package util\n", "does not know package util"},
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
