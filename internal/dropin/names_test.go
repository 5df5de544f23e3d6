package dropin

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

const (
	root   = "../.." // the main module, relative to this package
	module = "github.com/tidemark-k8s/tidemark"
)

// standIns are the packages that replace client-go's.
var standIns = map[string]string{
	"k8s.io/client-go/tools/cache":                  module + "/informer/cache",
	"k8s.io/client-go/informers":                    module + "/factory/informers",
	"k8s.io/client-go/informers/internalinterfaces": module + "/factory/internalinterfaces",
	"k8s.io/client-go/dynamic/dynamicinformer":      module + "/factory/dynamicinformer",
	"k8s.io/client-go/metadata/metadatainformer":    module + "/factory/metadatainformer",
}

// load returns the types of packages as the main module sees them, by path. They come from the
// compiler's export data, and share the types of imported packages.
func load(t *testing.T, patterns ...string) map[string]*types.Package {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes, Dir: root, Context: t.Context()}, patterns...)
	require.NoError(t, err)
	all := make(map[string]*types.Package)
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.PkgPath)
		all[p.PkgPath] = p.Types
	}
	return all
}

// exception is an intended difference from client-go.
type exception struct {
	name string // with its package: cache.FIFO, cache.Reflector.Run
	kind kind
}

var exceptionLine = regexp.MustCompile(`^(\S+) (missing|type|signature): \S.*$`)

// exceptions parses a list of exceptions, one per line, with reasons.
func exceptions(t *testing.T, text string) []exception {
	t.Helper()
	var all []exception
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := exceptionLine.FindStringSubmatch(line)
		require.NotNil(t, parts, "want \"package.Name missing|type|signature: why\", got %q", line)
		all = append(all, exception{parts[1], kind(parts[2])})
	}
	return all
}

// A program that replaces an import finds every name in client-go's package, with the same types. Each
// difference is listed with a reason.
func TestEveryNameOfClientgoIsHere(t *testing.T) {
	var paths []string
	for theirs, ours := range standIns {
		paths = append(paths, theirs, ours)
	}
	loaded := load(t, paths...)
	var found []difference
	for theirs, ours := range standIns {
		require.NotEmpty(t, loaded[theirs].Scope().Names(), theirs)
		found = append(found, compare(path.Base(theirs), loaded[theirs], loaded[ours])...)
	}
	text, err := os.ReadFile("testdata/exceptions.txt")
	require.NoError(t, err)
	listed := exceptions(t, string(text))
	for _, problem := range judge(found, listed) {
		t.Error(problem)
	}
	migration, err := os.ReadFile(path.Join(root, "docs/migrating.md"))
	require.NoError(t, err)
	for _, e := range listed {
		if _, name, _ := strings.Cut(e.name, "."); e.kind == missing && !strings.Contains(name, ".") {
			require.Contains(t, string(migration), "`"+name+"`", "docs/migrating.md must name everything that is missing")
		}
	}
}

// judge returns the differences that are not listed, and the listed exceptions without a difference.
func judge(found []difference, listed []exception) []string {
	var problems []string
	for _, d := range found {
		if !slices.Contains(listed, d.exception) {
			problems = append(problems, fmt.Sprintf("%s %s: %s", d.name, d.kind, d.detail))
		}
	}
	for _, e := range listed {
		if !slices.ContainsFunc(found, func(d difference) bool { return d.exception == e }) {
			problems = append(problems, fmt.Sprintf("%s is listed as %s in testdata/exceptions.txt, but it is not", e.name, e.kind))
		}
	}
	slices.Sort(problems)
	return problems
}

// world makes two packages from source text. The second one may import the first one.
func world(t *testing.T, theirs, ours string) (*types.Package, *types.Package) {
	t.Helper()
	made := make(map[string]*types.Package)
	for _, p := range []struct{ path, text string }{{"theirs", theirs}, {"ours", ours}} {
		made[p.path] = check(t, p.path, p.text, made)
	}
	return made["theirs"], made["ours"]
}

func TestNameRulesCanFail(t *testing.T) {
	for name, c := range map[string]struct{ theirs, ours, want string }{
		"the same type":         {"type T struct{ A int }", "type T = theirs.T", ""},
		"a generic alias":       {"type T[K any] struct{ A K }", "type T[K any] = theirs.T[K]", ""},
		"a function":            {"func F(a int) error { return nil }", "func F(b int) error { return nil }", ""},
		"a generic function":    {"func F[T any](a T) {}", "func F[U any](a U) {}", ""},
		"a function in a var":   {"func F(a int) {}", "var F = theirs.F", ""},
		"a constant":            {"const C = 1", "const C = theirs.C", ""},
		"an unexported name":    {"func f() {}; type t int", "", ""},
		"no function":           {"func F() {}", "", "p.F missing: client-go has it"},
		"no type":               {"type T int", "func T() {}", "p.T type: "},
		"another constant":      {"const C = 1", "const C = 2", "p.C type: "},
		"another variable":      {"var V int", "var V string", "p.V type: "},
		"a constant for a var":  {"var V = 1", "const V = 1", "p.V type: "},
		"another type":          {"type T struct{ a int }", "type T struct{ a int }", "p.T type: "},
		"an alias of its own":   {"type s int; type O = func(s); func F(o ...O) {}", "type O func(string); func F(o ...O) {}", "p.O type: "},
		"another type argument": {"type T[K any] struct{ a K }", "type T[K any] = theirs.T[int]", "p.T type: "},
		"another parameter":     {"func F(a int) {}", "func F(a string) {}", "p.F signature: "},
		"a wider parameter":     {"func F(a int) {}", "func F(a any) {}", "p.F signature: "},
		"one more parameter":    {"func F(a int) {}", "func F(a int, b int) {}", "p.F signature: "},
		"a variadic one":        {"func F(a []int) {}", "func F(a ...int) {}", "p.F signature: "},
		"another result":        {"func F() int { return 0 }", "func F() error { return nil }", "p.F signature: "},
		"an option of its own":  {"type O func(int); func F(o ...O) {}", "type O = func(string); func F(o ...O) {}", "p.O type: "},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, ours := world(t, c.theirs, c.ours)
			problems := judge(compare("p", theirs, ours), nil)
			if c.want == "" {
				require.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			require.Contains(t, problems[0], c.want)
		})
	}
}

// A replaced type has all methods and fields of client-go's type, and may have more.
func TestMemberRulesCanFail(t *testing.T) {
	theirs, ours := world(t,
		"type R struct{ A, B int }; func (*R) Run(a int) {}; func (*R) Stop() {}; func (R) Name() string { return \"\" }; func New() *R { return nil }",
		"type R = theirs.R; type Own struct{ A string }; func (*Own) Run(b int) {}; func (*Own) Name() int { return 0 }; func New() *Own { return nil }")
	found := compare("p", theirs, ours)
	require.Equal(t, []string{
		"p.New signature: want func() *theirs.R, got func() *ours.Own",
		"p.R.A type: want int, got string",
		"p.R.B missing: client-go has it",
		"p.R.Name signature: want func() string, got func() int",
		"p.R.Stop missing: client-go has it",
	}, judge(found, nil))
	require.Empty(t, judge(found, exceptions(t, "# all\np.New signature: ours\np.R.A type: ours\np.R.B missing: x\np.R.Name signature: x\np.R.Stop missing: x\n")))
	require.Equal(t, []string{"p.X is listed as missing in testdata/exceptions.txt, but it is not"}, judge(nil, []exception{{"p.X", missing}}))
}

// kind is a kind of difference.
type kind string

const (
	missing   kind = "missing"
	otherType kind = "type"
	signature kind = "signature"
)

// difference is a difference between our package and client-go's.
type difference struct {
	exception
	detail string
}

// comparison finds the differences between two packages.
type comparison struct {
	pkg          string // the name of both packages
	theirs, ours *types.Package
	found        []difference
}

// compare returns the differences between client-go's package and our replacement.
func compare(pkg string, theirs, ours *types.Package) []difference {
	c := &comparison{pkg: pkg, theirs: theirs, ours: ours}
	for _, name := range theirs.Scope().Names() {
		if token.IsExported(name) {
			c.object(name, theirs.Scope().Lookup(name), ours.Scope().Lookup(name))
		}
	}
	return c.found
}

func (c *comparison) add(name string, k kind, format string, args ...any) {
	d := difference{exception{c.pkg + "." + name, k}, fmt.Sprintf(format, args...)}
	if !slices.Contains(c.found, d) {
		c.found = append(c.found, d)
	}
}

func (c *comparison) missing(name string) { c.add(name, missing, "client-go has it") }

func (c *comparison) object(name string, theirs, ours types.Object) {
	if ours == nil {
		c.missing(name)
		return
	}
	switch theirs := theirs.(type) {
	case *types.TypeName:
		if o, ok := ours.(*types.TypeName); !ok || !sameType(theirs, o) {
			c.add(name, otherType, "want %v, got %v", theirs.Type(), ours)
			if ok {
				c.members(name, theirs.Type(), o.Type())
			}
		}
	case *types.Func:
		c.function(name, theirs.Signature(), ours.Type())
	case *types.Const:
		if o, ok := ours.(*types.Const); !ok || !types.Identical(theirs.Type(), o.Type()) || !constant.Compare(theirs.Val(), token.EQL, o.Val()) {
			c.add(name, otherType, "want %v, got %v", theirs, ours)
		}
	case *types.Var:
		if o, ok := ours.(*types.Var); !ok || !types.Identical(theirs.Type(), o.Type()) {
			c.add(name, otherType, "want %v, got %v", theirs, ours)
		}
	}
}

// sameType reports whether a name is an alias of client-go's type.
func sameType(theirs, ours *types.TypeName) bool {
	t, o := types.Unalias(theirs.Type()), types.Unalias(ours.Type())
	named, generic := t.(*types.Named)
	if !generic || named.TypeParams().Len() == 0 {
		return types.Identical(t, o)
	}
	alias, ok := ours.Type().(*types.Alias)
	instance, isNamed := o.(*types.Named)
	if !ok || !isNamed || instance.Origin() != named {
		return false
	}
	for i := range alias.TypeParams().Len() {
		if instance.TypeArgs().At(i) != types.Type(alias.TypeParams().At(i)) {
			return false
		}
	}
	return true
}

// function compares the parameters and results of a function. A result with another type must have the
// members of client-go's type.
func (c *comparison) function(name string, theirs *types.Signature, ours types.Type) {
	o, ok := ours.(*types.Signature)
	if ok && c.same(theirs, o) {
		return
	}
	c.add(name, signature, "want %v, got %v", theirs, ours)
	if !ok {
		return
	}
	for i := range min(theirs.Results().Len(), o.Results().Len()) {
		t, got := theirs.Results().At(i).Type(), o.Results().At(i).Type()
		if of, ok := t.(*types.Pointer); ok && !c.sameValue(t, got) {
			if named, ok := of.Elem().(*types.Named); ok {
				c.members(named.Obj().Name(), named, got)
			}
		}
	}
}

// same reports whether two signatures are equal. It treats our type as equal to client-go's type with
// the same name, because the difference is reported once for the type.
func (c *comparison) same(theirs, ours *types.Signature) bool {
	if types.Identical(theirs, ours) {
		return true
	}
	return theirs.Variadic() == ours.Variadic() && c.sameValues(theirs.Params(), ours.Params()) && c.sameValues(theirs.Results(), ours.Results())
}

func (c *comparison) sameValues(theirs, ours *types.Tuple) bool {
	if theirs.Len() != ours.Len() {
		return false
	}
	for i := range theirs.Len() {
		if !c.sameValue(theirs.At(i).Type(), ours.At(i).Type()) {
			return false
		}
	}
	return true
}

func (c *comparison) sameValue(theirs, ours types.Type) bool {
	if types.Identical(theirs, ours) {
		return true
	}
	switch t := theirs.(type) {
	case *types.Slice:
		o, ok := ours.(*types.Slice)
		return ok && c.sameValue(t.Elem(), o.Elem())
	case *types.Pointer:
		o, ok := ours.(*types.Pointer)
		return ok && c.sameValue(t.Elem(), o.Elem())
	case interface{ Obj() *types.TypeName }: // a defined type or an alias
		counterpart, ok := c.ours.Scope().Lookup(t.Obj().Name()).(*types.TypeName)
		return ok && t.Obj().Pkg() == c.theirs && types.Identical(counterpart.Type(), ours)
	}
	return false
}

// members compares the exported methods and fields of a type with those of its replacement.
func (c *comparison) members(name string, theirs, ours types.Type) {
	methods := types.NewMethodSet(pointerTo(theirs))
	for m := range methods.Methods() {
		c.member(name, m.Obj(), ours)
	}
	if s, ok := theirs.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			c.member(name, f, ours)
		}
	}
}

func (c *comparison) member(name string, theirs types.Object, ours types.Type) {
	if !theirs.Exported() {
		return
	}
	name += "." + theirs.Name()
	got, _, _ := types.LookupFieldOrMethod(ours, true, nil, theirs.Name())
	k := signature
	if _, field := theirs.(*types.Var); field {
		k = otherType
	}
	switch {
	case got == nil:
		c.missing(name)
	case !types.Identical(theirs.Type(), got.Type()):
		c.add(name, k, "want %v, got %v", theirs.Type(), got.Type())
	}
}

func pointerTo(t types.Type) types.Type {
	if types.IsInterface(t) {
		return t
	}
	return types.NewPointer(t)
}
