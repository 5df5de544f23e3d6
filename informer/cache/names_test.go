package cache

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	aQueue = "a queue that no informer, reflector or controller here makes; DeltaFIFO is ours"
	aStore = "a map by key strings, of which no informer or indexer here is made; NewIndexer is ours"
	aTTL   = "a store that forgets has nothing to do with informers"
)

// lent are the containers that are client-go's own code, with the reason.
var lent = map[string]string{
	"RealFIFO":                   aQueue,
	"RealFIFOOptions":            aQueue,
	"NewRealFIFO":                aQueue,
	"NewRealFIFOWithOptions":     aQueue,
	"FIFO":                       aQueue,
	"NewFIFO":                    aQueue,
	"NewThreadSafeStore":         aStore,
	"ThreadSafeStoreOption":      aStore,
	"WithThreadSafeStoreMetrics": aStore,
	"NewTTLStore":                aTTL,
	"NewExpirationStore":         aTTL,
	"NewFakeExpirationStore":     aTTL,
	"ExpirationCache":            aTTL,
	"ExpirationPolicy":           aTTL,
	"FakeExpirationPolicy":       aTTL,
	"TTLPolicy":                  aTTL,
	"TimestampedEntry":           aTTL,
}

// exported returns the exported names of the package in a folder, with what
// they are.
func exported(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	names := make(map[string]string)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			declared(d, names)
		}
	}
	maps.DeleteFunc(names, func(name, _ string) bool { return !ast.IsExported(name) })
	return names
}

func declared(d ast.Decl, names map[string]string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names[d.Name.Name] = "function"
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names[spec.Name.Name] = "type"
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names[name.Name] = d.Tok.String()
				}
			}
		}
	}
}

func TestEveryNameOfClientgoIsHere(t *testing.T) {
	theirs, err := build.Import("k8s.io/client-go/tools/cache", ".", build.FindOnly)
	require.NoError(t, err)
	want, got := exported(t, theirs.Dir), exported(t, ".")
	require.Greater(t, len(want), 150, "the names were not read")
	for _, problem := range nameProblems(want, got) {
		t.Error(problem)
	}
}

// nameProblems compares client-go's names with those of this package.
func nameProblems(want, got map[string]string) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		_, here := got[name]
		switch {
		case !here:
			problems = append(problems, name+" is not here")
		case (want[name] == "type") != (got[name] == "type"):
			problems = append(problems, name+" is a "+want[name]+", here a "+got[name])
		}
	}
	return problems
}

func TestNameRulesCanFail(t *testing.T) {
	want := map[string]string{"A": "type", "B": "function"}
	require.Empty(t, nameProblems(want, map[string]string{"A": "type", "B": "var"}))
	require.Equal(t, []string{"B is not here"}, nameProblems(want, map[string]string{"A": "type"}))
	require.Equal(t, []string{"A is a type, here a var"}, nameProblems(want, map[string]string{"A": "var", "B": "var"}))
}

// All that is lent stands in one file, and nothing else does.
func TestWhatIsLentIsListed(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "theirs.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	names := make(map[string]string)
	for _, d := range file.Decls {
		declared(d, names)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(lent)), slices.Collect(maps.Keys(names)))
}

// What is lent is told to those who migrate.
func TestLentNamesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../MIGRATION.md")
	require.NoError(t, err)
	for name := range lent {
		require.Contains(t, string(text), "`"+name+"`")
	}
}
