package sim_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

// coverageWorlds is the number of worlds, starting with the first, that together reach everything.
const coverageWorlds = 300

// wantReached returns everything that some world must reach: all operations, faults, kinds of handlers
// and events of an informer.
func wantReached(t *testing.T) (all []string) {
	t.Helper()
	want := func(sort string, what any) {
		if text := fmt.Sprintf("%s %v", sort, what); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for _, m := range slices.Concat(menu, resourceMenu, tenantMenu) {
		want("operation", m.op)
	}
	for d := hidden; d < denials; d++ {
		want("denial", int(d))
	}
	for n := range failures {
		want("failure", n)
	}
	for n := range watchErrors {
		want("spit", n)
	}
	for _, k := range kinds {
		want("delivered", k.name)
	}
	want("object", "moved")
	want("answer", "{}")
	want("answer", "a stream without a version")
	want("answer", "an empty stream without a version")
	want("store", "filled")
	want("store", "scribbled")
	for how := range packed(packedWays) {
		want("holds", how)
	}
	for _, from := range onlookers {
		want("onlooker", from)
	}
	for _, name := range reflectorEvents(t) {
		switch name {
		case "Undecodable": // the worlds' sources send objects, not bytes
		case "SelectorRefused", "ClientDecoded": // these worlds have neither shares nor a client that decodes packed objects
		default:
			want("event", "reflector."+name)
		}
	}
	for _, e := range []informer.Event{&informer.QuarantineError{}, &indexer.IndexError{}, informer.HandlerPanicked{}} {
		want("event", fmt.Sprintf("%T", e))
	}
	return all
}

// reflectorEvents returns the names of the reflector's events, from its code. A new event needs a world
// in which it occurs.
func reflectorEvents(t *testing.T) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../reflector/event.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "reflectorEvent" {
			names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	require.NotEmpty(t, names)
	return names
}

// unreached returns the entries of wantReached that no world has reached.
func unreached(t *testing.T, reached map[string]int) (missing []string) {
	t.Helper()
	for _, what := range wantReached(t) {
		if reached[what] == 0 {
			missing = append(missing, what)
		}
	}
	return missing
}
