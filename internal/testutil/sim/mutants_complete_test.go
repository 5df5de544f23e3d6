package sim_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/informer"
)

// Each checker, and each reason in eventCheckers, needs a mutant that proves that it can fail. The test
// reads the checkers and reasons from the code, so that none is forgotten.
func TestEachCheckerHasAMutant(t *testing.T) {
	names, reasons := checkersOf(t)
	require.Greater(t, len(names), 20)
	require.Greater(t, len(reasons), 10)
	for _, name := range names {
		require.True(t, slices.ContainsFunc(mutants, func(l mutantCase) bool { return l.checker == name }), "no mutant for the checker %q", name)
	}
	for _, reason := range reasons {
		require.True(t, slices.ContainsFunc(mutants, func(l mutantCase) bool { return l.reason != "" && strings.HasPrefix(reason, l.reason) }),
			"no mutant for the reason %q", reason)
	}
	for _, l := range mutants {
		require.Contains(t, names, l.checker, "the mutant %q has no checker", l.name)
	}
}

// checkersOf returns the names of all checkers, from the tables and from calls of fault. It also returns
// the reasons of eventCheckers, including those of the kit's rules that they call.
func checkersOf(t *testing.T) (names, reasons []string) {
	t.Helper()
	for _, c := range eventCheckers {
		names = append(names, c.name)
	}
	for _, c := range slices.Concat(stepCheckers, restCheckers, stopCheckers, endCheckers) {
		names = append(names, c.name)
	}
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasPrefix(name, "ownwrites") { // these worlds have their own checkers and mutants
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "fault" {
					names = append(names, literals(n.Args[0])...)
				}
			case *ast.ValueSpec:
				if n.Names[0].Name == "eventCheckers" {
					reasons = append(append(reasons, returned(n)...), kitReasons(t, n)...)
				}
			}
			return true
		})
	}
	return names, reasons
}

// kitReasons returns the reasons of the kit's rules that are called below a node.
func kitReasons(t *testing.T, n ast.Node) (reasons []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../kit/change.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	rules := map[string]*ast.FuncDecl{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Wrong") {
			rules[f.Name.Name] = f
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok && rules[call.Sel.Name] != nil {
			reasons = append(reasons, returned(rules[call.Sel.Name])...)
		}
		return true
	})
	return reasons
}

// returned returns the strings that functions below a node return.
func returned(n ast.Node) (texts []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			texts = append(texts, literals(r.Results[0])...)
		}
		return true
	})
	return texts
}

// literals returns the non-empty string literals below a node.
func literals(n ast.Node) (texts []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, _ := strconv.Unquote(l.Value); text != "" {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// Each transcript changes if a handler misses events.
func TestEachTranscriptCanFail(t *testing.T) {
	for _, file := range transcripts(t) {
		script, want := readTranscript(t, file)
		forgets := dropsEvents(func(c event) bool { return markOf(subject(c)).serial > 0 })
		require.NotEqual(t, want, playScript(t, script, forgets).trace, "%s", file)
	}
}

// The trace of a world changes if anything in it depends on more than the seed.
func TestTheSameTraceCanFail(t *testing.T) {
	played := 0
	moody := delivers(func(_ *handler, c event) []event {
		if played == 1 && c.Kind == informer.Updated {
			return nil
		}
		return []event{c}
	})
	p := newPlan(1)
	one := run(t, p, moody).trace
	played++
	require.NotEqual(t, one, run(t, p, moody).trace)
}

// A shrunk world still fails, and needs each of its steps.
func TestAFailingWorldIsShrunk(t *testing.T) {
	adds := duplicatesEvents(func(c event) bool { return c.Kind == informer.Added && !c.Initial })
	p := newPlan(1)
	small := shrink(t, p, adds, "known")
	require.True(t, run(t, small, adds).finds("known"))
	require.Len(t, small.steps, 1, "one write is enough")
}

// An event, fault or operation that no world has reached is reported.
func TestReachedCanFail(t *testing.T) {
	all := map[string]int{}
	for _, what := range wantReached(t) {
		all[what] = 1
	}
	require.Empty(t, unreached(t, all))
	for what := range all {
		delete(all, what)
		require.Equal(t, []string{what}, unreached(t, all))
		all[what] = 1
	}
}
