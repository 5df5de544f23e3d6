package testutil_test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// clientgoImports are the packages that only the files of client-go's API may import in
// package informer.
const clientgoImports = "k8s.io/client-go/..."

const clientgoWall = "the engine and the typed API do not know client-go's API; it connects itself by the hooks"

func TestTheEngineDoesNotKnowClientgosAPI(t *testing.T) {
	report(t, wallProblems(repository(t)))
}

// wallProblems checks that in package informer only the files clientgo*.go name what is in them, and
// import client-go. They are no package of their own, since methods of Shared return types of the face.
func wallProblems(sources []*source) []string {
	var problems []string
	for _, s := range sources {
		if s.isTest() || s.folder() != "informer" || strings.HasPrefix(s.base(), "clientgo") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && strings.Contains(strings.ToLower(id.Name), "clientgo") {
				problems = append(problems, s.problem(id.Pos(), "%s is not to be named here: %s", id.Name, clientgoWall))
			}
			return true
		})
		for p, spec := range s.imports() {
			if within(clientgoImports, p) {
				problems = append(problems, s.problem(spec.Pos(), "%s is not to be imported here: %s", p, clientgoWall))
			}
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

func TestTheWallCanFail(t *testing.T) {
	try(t, []snippet{
		{"the engine", "informer/core.go", "package x\n\nvar _ = clientgoInformer{}\n", "clientgoInformer is not to be named"},
		{"a function of it", "informer/core.go", "package x\n\nvar _ = newClientgoInformer\n", "newClientgoInformer is not to be named"},
		{"the core in its own file", "informer/life.go", "package x\n\nvar _ core\n", ""},
		{"its import", "informer/core.go", "package x\n\nimport _ \"k8s.io/client-go/tools/cache\"\n", "is not to be imported"},
		{"client-go's API", "informer/clientgo.go", "package x\n\nimport _ \"k8s.io/client-go/tools/cache\"\n\nvar _ = clientgoInformer{}\n", ""},
		{"a test", "informer/core_test.go", "package x\n\nvar _ = clientgoInformer{}\n", ""},
		{"another package", path.Join("factory", "a.go"), "package x\n\nvar _ = clientgoInformer{}\n", ""},
	}, wallProblems)
}
