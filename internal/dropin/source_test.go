package dropin

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/require"
)

// imported is an importer for the packages made so far.
type imported map[string]*types.Package

func (i imported) Import(path string) (*types.Package, error) { return i[path], nil }

// check makes a package from source text. It may import the known packages.
func check(t *testing.T, path, text string, known map[string]*types.Package) *types.Package {
	t.Helper()
	imports := ""
	for name := range known {
		imports += "import \"" + name + "\"\n"
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, "package "+path+"\n"+imports+text, parser.SkipObjectResolution)
	require.NoError(t, err)
	lenient := types.Config{Importer: imported(known), Error: func(error) {}} // ignores errors, such as unused imports
	p, _ := lenient.Check(path, fset, []*ast.File{file}, nil)
	return p
}
