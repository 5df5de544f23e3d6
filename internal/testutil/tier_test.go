package testutil_test

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unracedAlthough are packages whose tests start goroutines, but which make test runs without the race
// detector. make test-long runs them with it.
var unracedAlthough = map[string]string{
	"examples/crd":               "its tests copy objects; the tests of examples/internal/programs run the program",
	"examples/internal/programs": "the programs run in separate processes, built like this package",
	"internal/gotype":            "descriptions of types are made once under a lock; one test reads them from several goroutines",
	"internal/jsondecode":        "one goroutine uses a decoder; a test writes to a pipe",
	"internal/ownwrites":         "one goroutine reads requests and answers; one table has a lock",
	"internal/process":           "its goroutines copy the output of a process",
	"internal/protodecode":       "one goroutine uses a decoder; plans are made once under a lock",
	"internal/share":             "one table has a lock",
	"internal/sharepass":         "one goroutine uses a pass; plans are made once under a lock",
}

// make test uses the race detector in the packages whose tests start goroutines, or run code of this
// module that does.
func TestWhereGoroutinesMeetTheRaceDetectorIsOn(t *testing.T) {
	unraced := variable(t, "unraced")
	starts, tested := goroutines(t)
	for folder := range tested {
		listed := slices.Contains(unraced, "./"+folder)
		switch why, excepted := unracedAlthough[folder]; {
		case excepted && (!listed || !starts[folder]):
			t.Errorf("%s (%s) is in unracedAlthough, but is not in the Makefile's unraced, or does not start goroutines", folder, why)
		case listed && starts[folder] && !excepted:
			t.Errorf("the tests of %s start goroutines: remove it from the Makefile's unraced, or give a reason in unracedAlthough", folder)
		case !listed && !starts[folder]:
			t.Errorf("the tests of %s do not start goroutines: add it to the Makefile's unraced", folder)
		}
	}
	for _, folder := range variable(t, "fewMeet") {
		require.Contains(t, unracedAlthough, strings.TrimPrefix(folder, "./"), "fewMeet in the Makefile")
	}
	for _, folder := range unraced {
		require.True(t, tested[strings.TrimPrefix(folder, "./")], "%s in the Makefile's unraced has no tests", folder)
	}
}

// goroutines returns the folders whose tests start goroutines, directly or in imported code of this
// module, and all folders with tests.
func goroutines(t *testing.T) (starts, tested map[string]bool) {
	starts, tested = map[string]bool{}, map[string]bool{}
	library, imports := map[string]bool{}, map[string][]string{} // the packages that start goroutines outside of tests, and the imports of each package
	for _, s := range repository(t) {
		folder := s.folder()
		switch {
		case inAnotherModule(folder):
			continue
		case s.isTest():
			tested[folder] = true
			starts[folder] = starts[folder] || startsGoroutine(s)
			folder += " tests"
		case startsGoroutine(s):
			library[folder] = true
		}
		for p := range s.imports() {
			if below, ok := strings.CutPrefix(p, module+"/"); ok {
				imports[folder] = append(imports[folder], below)
			}
		}
	}
	for folder := range tested {
		reached := map[string]bool{}
		var reach func(folder string) bool
		reach = func(folder string) bool {
			if reached[folder] {
				return false
			}
			reached[folder] = true
			return library[folder] || slices.ContainsFunc(imports[folder], reach)
		}
		starts[folder] = starts[folder] || reach(folder) || reach(folder+" tests")
	}
	return starts, tested
}

// inAnotherModule reports whether a folder belongs to a nested module.
func inAnotherModule(folder string) bool {
	for ; folder != "."; folder = path.Dir(folder) {
		if _, err := os.Stat(path.Join(root, folder, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// startsGoroutine reports whether a file has a go statement, or calls the method Go of a group.
func startsGoroutine(s *source) bool {
	for n := range ast.Preorder(s.file) {
		switch n := n.(type) {
		case *ast.GoStmt:
			return true
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" {
				return true
			}
		}
	}
	return false
}

// The Makefile names the tests that depend on their tier, and their packages, for make test-long.
func TestTieredTestsAreInTheMakefile(t *testing.T) {
	var tests, packages []string
	for _, s := range repository(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.isTest() && !strings.HasSuffix(s.path, "/main_test.go") && asksForTier(f) {
				tests, packages = append(tests, f.Name.Name), append(packages, "./"+s.folder())
			}
		}
	}
	slices.Sort(packages)
	require.ElementsMatch(t, tests, variable(t, "slow"))
	require.Equal(t, slices.Compact(packages), variable(t, "tiered"))
}

// asksForTier reports whether a function uses package tier.
func asksForTier(f *ast.FuncDecl) (asks bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		qualifier, ok := n.(*ast.SelectorExpr)
		if ok {
			pkg, _ := qualifier.X.(*ast.Ident)
			asks = asks || pkg != nil && pkg.Name == "tier"
		}
		return true
	})
	return asks
}

// variable returns the words in a variable of the Makefile.
func variable(t *testing.T, name string) []string {
	text, err := os.ReadFile(path.Join(root, "Makefile"))
	require.NoError(t, err)
	value := regexp.MustCompile(`(?m)^` + name + ` := ((?:.*\\\n)*.*)$`).FindStringSubmatch(string(text))
	require.NotNil(t, value, name)
	return strings.Fields(strings.ReplaceAll(value[1], "\\\n", " "))
}
