package testutil

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhereIsTableIsTrue checks the last table of ARCHITECTURE: the files exist, and
// declare the names that follow them.
func TestWhereIsTableIsTrue(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n## Where is …?\n")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(table) {
		question, answer, ok := strings.Cut(strings.TrimPrefix(line, "| "), "? | ")
		if !ok {
			continue
		}
		rows++
		var names map[string]bool
		for _, token := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(answer, -1) {
			switch name := token[1]; {
			case strings.HasSuffix(name, ".go"):
				names = declared(t, name)
			case strings.Contains(name, "/"):
				require.DirExists(t, "../../"+name, question)
			default:
				require.True(t, names[name], "where is %s? %q is not declared there", question, name)
			}
		}
	}
	require.GreaterOrEqual(t, rows, 24)
}

// declared returns the names that a file declares: of functions, methods, types,
// constants, variables and fields.
func declared(t *testing.T, file string) map[string]bool {
	parsed, err := parser.ParseFile(token.NewFileSet(), "../../"+file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	names := make(map[string]bool)
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Name.Name] = true
			return false
		case *ast.TypeSpec:
			names[n.Name.Name] = true
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		case *ast.Field:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}
