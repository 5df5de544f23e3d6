package testutil

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhereIsTableIsTrue checks the last table of docs/architecture.md: the files exist and declare the
// names that follow them.
func TestWhereIsTableIsTrue(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
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
				require.True(t, names[name], "where is %s? The file does not declare %q", question, name)
			}
		}
	}
	require.GreaterOrEqual(t, rows, 24)
}

// declared returns the names that a file declares: functions, methods, types, constants, variables and
// fields.
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

// TestFoldersOfTheArchitecture checks the table of folders in docs/architecture.md: its folders exist,
// and it has all folders directly below the root and below internal. The first folder of a row is the
// parent of the others.
func TestFoldersOfTheArchitecture(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "\n## Folders\n")
	table, _, _ = strings.Cut(table, "\n## ")
	recorded := map[string]bool{}
	for line := range strings.Lines(table) {
		column, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		beside := ""
		for _, token := range regexp.MustCompile("`([^`]+)/`").FindAllStringSubmatch(column, -1) {
			folder := path.Join(beside, token[1])
			beside = path.Dir(folder)
			require.DirExists(t, "../../"+folder)
			recorded[folder] = true
		}
	}
	for _, of := range []string{".", "internal"} {
		entries, err := os.ReadDir("../../" + of)
		require.NoError(t, err)
		for _, e := range entries {
			name := path.Join(of, e.Name())
			if e.IsDir() && e.Name()[0] != '.' && name != "internal" {
				require.True(t, recorded[name], "docs/architecture.md does not list %s", name)
			}
		}
	}
}
