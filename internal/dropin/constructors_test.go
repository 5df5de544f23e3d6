package dropin

import (
	"go/types"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// constructors are the constructors that informer-gen generates for each kind, and the generic functions
// that replace them. A typed function returns a typed view of the same informer.
var constructors = []struct{ before, after, generic string }{
	{"NewTypedFiltered", "Informer", "NewFilteredInformer"},
	{"NewTyped", "InformerWithOptions", "NewInformerWithOptions"},
	{"NewTyped", "Informer", "NewInformer"},
	{"NewFiltered", "Informer", "NewFilteredInformer"},
	{"New", "InformerWithOptions", "NewInformerWithOptions"},
	{"New", "Informer", "NewInformer"},
}

var indexers = regexp.MustCompile(`[\w/.-]+\.\w*Indexers`)

// For every generated constructor, package factory has a generic one with the same parameters.
func TestGeneratedConstructorsHaveGenericOnes(t *testing.T) {
	loaded := load(t, module+"/factory", "k8s.io/client-go/informers/...")
	generic := loaded[module+"/factory"].Scope()
	kinds, found := 0, 0
	for path, p := range loaded {
		if path == module+"/factory" || path == "k8s.io/client-go/informers" {
			continue
		}
		for _, name := range p.Scope().Names() {
			f, ok := p.Scope().Lookup(name).(*types.Func)
			if !ok || name == "New" || !strings.HasPrefix(name, "New") {
				continue
			}
			found++
			kind, stand := standsFor(name)
			require.NotNil(t, p.Scope().Lookup(kind+"Informer"), "%s of %s is not a known constructor", name, path)
			if strings.HasPrefix(name, "New"+kind) && stand == "NewInformer" {
				kinds++
			}
			want := spellTuple(generic.Lookup(stand).(*types.Func).Signature().Params(), false)
			got := indexers.ReplaceAllString(spellTuple(f.Signature().Params(), false), "tools/cache.Indexers")
			if got != strings.Replace(want, " string,", "", 1) { // a kind without namespaces
				require.Equal(t, want, got, "%s of %s", name, path)
			}
		}
	}
	require.Equal(t, 147, kinds)
	require.Equal(t, len(constructors)*kinds, found)
}

// standsFor returns the kind in a constructor's name, and the generic function that replaces it.
func standsFor(name string) (kind, generic string) {
	for _, c := range constructors {
		rest, begins := strings.CutPrefix(name, c.before)
		kind, ends := strings.CutSuffix(rest, c.after)
		if begins && ends {
			return kind, c.generic
		}
	}
	return "", ""
}

func TestStandsFor(t *testing.T) {
	for name, want := range map[string][2]string{
		"NewPodInformer":                 {"Pod", "NewInformer"},
		"NewFilteredPodInformer":         {"Pod", "NewFilteredInformer"},
		"NewTypedFilteredPodInformer":    {"Pod", "NewFilteredInformer"},
		"NewTypedPodInformerWithOptions": {"Pod", "NewInformerWithOptions"},
		"NewPodLister":                   {"", ""},
	} {
		kind, generic := standsFor(name)
		require.Equal(t, want, [2]string{kind, generic}, name)
	}
}
