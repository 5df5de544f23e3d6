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

// The Makefile names the tests that ask for their tier, and their packages: make test runs them
// without the race detector.
func TestTieredTestsAreInTheMakefile(t *testing.T) {
	text, err := os.ReadFile(path.Join(root, "Makefile"))
	require.NoError(t, err)
	var tests, packages []string
	for _, s := range repository(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.isTest() && asksForTier(f) {
				tests, packages = append(tests, f.Name.Name), append(packages, "./"+s.folder())
			}
		}
	}
	slices.Sort(packages)
	require.ElementsMatch(t, tests, variable(string(text), "slow"))
	require.Equal(t, slices.Compact(packages), variable(string(text), "tiered"))
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

// variable returns the words of a variable of a Makefile.
func variable(makefile, name string) []string {
	value := regexp.MustCompile(`(?m)^` + name + ` := ((?:.*\\\n)*.*)$`).FindStringSubmatch(makefile)
	if value == nil {
		return nil
	}
	return strings.Fields(strings.ReplaceAll(value[1], "\\\n", " "))
}
