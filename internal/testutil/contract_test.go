package testutil_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	numbered     = regexp.MustCompile(`(?m)^\* \*\*([BDT]\d+)\*\* `)
	contractTest = regexp.MustCompile(`^TestContract_((?:[BDT]\d+_)+)`)
	statementIDs = regexp.MustCompile(`[BDT]\d+`)
)

// At least one test is named after each statement of the contract, and each statement in the name of a
// test is in the contract.
func TestEachStatementOfTheContractIsNamedByATest(t *testing.T) {
	contract, err := os.ReadFile("../../docs/contract.md")
	require.NoError(t, err)
	report(t, contractProblems(string(contract), repository(t)))
}

func contractProblems(contract string, sources []*source) (problems []string) {
	named := map[string]string{} // the statements, and a file with a test
	for _, s := range sources {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				for _, id := range statementIDs.FindAllString(contractTest.FindString(f.Name.Name), -1) {
					named[id] = s.path
				}
			}
		}
	}
	for _, statement := range numbered.FindAllStringSubmatch(contract, -1) {
		if named[statement[1]] == "" {
			problems = append(problems, "docs/contract.md: no test has the name of "+statement[1])
		}
		delete(named, statement[1])
	}
	for id, path := range named {
		problems = append(problems, path+": a test has the name of "+id+", which is not in the contract")
	}
	return problems
}

// The check finds a statement without a test, and a test without a statement.
func TestContractProblems(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a_test.go", "package a\nfunc TestContract_B1_D2_T3Shirts() {}\n", 0)
	require.NoError(t, err)
	tests := []*source{{path: "a_test.go", file: file}}
	require.Empty(t, contractProblems("* **B1** One.\n* **D2** (B1) Two.\n", tests))
	require.Len(t, contractProblems("* **B1** One.\n* **B3** Three.\n", tests), 2)
	require.Contains(t, contractProblems("* **D2** Two.\n", tests)[0], "B1")
}
