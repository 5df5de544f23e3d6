package testutil_test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// A room is a group of files of one package that must not use some names, as if it were a
// package that does not import them.
type room struct {
	folder string
	holds  func(file string) bool
	bans   func(identifier string) bool
	why    string
}

var rooms = []room{
	{
		folder: "informer",
		holds: func(file string) bool {
			return slices.Contains([]string{"processor.go", "parking.go", "registration.go", "receiver.go", "batch.go", "run.go"}, file) || strings.HasPrefix(file, "feed")
		},
		bans: func(name string) bool { return name == "core" || name == "informerSink" || name == "reading" },
		why:  "the arrows go from the core to the handlers to the log, and none goes back",
	},
	{
		folder: "informer",
		holds:  func(file string) bool { return !strings.HasPrefix(file, "clientgo") },
		bans:   func(name string) bool { return strings.Contains(strings.ToLower(name), "clientgo") },
		why:    "the engine and the typed API do not know client-go's API; it connects itself by the hooks",
	},
}

// clientgoImports are the packages that only the files of client-go's API may import in
// package informer.
const clientgoImports = "k8s.io/client-go/..."

func TestRoomsKeepApart(t *testing.T) {
	report(t, roomProblems(repository(t)))
}

func roomProblems(sources []*source) []string {
	var problems []string
	for _, s := range sources {
		if s.isTest() {
			continue
		}
		for _, r := range rooms {
			if s.folder() == r.folder && r.holds(s.base()) {
				problems = append(problems, r.problems(s)...)
			}
		}
	}
	return problems
}

func (r room) problems(s *source) []string {
	var problems []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && r.bans(id.Name) {
			problems = append(problems, s.problem(id.Pos(), "%s is not to be named here: %s", id.Name, r.why))
		}
		return true
	})
	for p, spec := range s.imports() {
		if r.folder == "informer" && !strings.HasPrefix(s.base(), "clientgo") && within(clientgoImports, p) {
			problems = append(problems, s.problem(spec.Pos(), "%s is not to be imported here: %s", p, r.why))
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

func TestRoomRulesCanFail(t *testing.T) {
	try(t, []snippet{
		{"the engine", "informer/core.go", "package x\n\nvar _ = clientgoInformer{}\n", "clientgoInformer is not to be named"},
		{"a function of it", "informer/core.go", "package x\n\nvar _ = newClientgoInformer\n", "newClientgoInformer is not to be named"},
		{"the core in a feed", "informer/feed_every.go", "package x\n\nvar _ core\n", "core is not to be named"},
		{"the core in a registration", "informer/registration.go", "package x\n\ntype r struct{ core *core }\n", "core is not to be named"},
		{"the core in its own file", "informer/life.go", "package x\n\nvar _ core\n", ""},
		{"its import", "informer/core.go", "package x\n\nimport _ \"k8s.io/client-go/tools/cache\"\n", "is not to be imported"},
		{"client-go's API", "informer/clientgo.go", "package x\n\nimport _ \"k8s.io/client-go/tools/cache\"\n\nvar _ = clientgoInformer{}\n", ""},
		{"a test", "informer/core_test.go", "package x\n\nvar _ = clientgoInformer{}\n", ""},
		{"another package", path.Join("factory", "a.go"), "package x\n\nvar _ = clientgoInformer{}\n", ""},
	}, roomProblems)
}
