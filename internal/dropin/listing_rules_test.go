package dropin

import (
	"go/types"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListing(t *testing.T) {
	theirs, ours := world(t, "type Store interface{ Get(key string) any }", `
const C = 1
const c = 2
type Level int
const High Level = 3
var V map[string]*theirs.Store
func F(a, b int, rest ...string) (x Level, err error) { return }
func G[T any, U interface{ ~int | ~string }](f func(of T) U) {}
type Alias = theirs.Store
type List[T any] struct { Items []T; next *List[T]; inner; theirs.Store }
type inner struct { Shown bool; hidden int }
func (inner) Promoted() {}
func (l *List[T]) Add(item T) *List[T] { return l }
func (l List[T]) Len() int { return 0 }
func (l List[T]) grow() {}
type Sealed interface { Name() string; sealed() }
type Number interface { ~int | ~float64 }
type Func func(old, new any) (ok bool)
`)
	require.Equal(t, []string{
		"pkg ours, const C untyped int = 1",
		"pkg ours, const High ours.Level = 3",
		"pkg ours, func F(int, int, ...string) (ours.Level, error)",
		"pkg ours, func G[T any, U interface{~int | ~string}](func(T) U)",
		"pkg ours, method (*List[T]) Add(T) *ours.List[T]",
		"pkg ours, method (List[T]) Get(string) any",
		"pkg ours, method (List[T]) Len() int",
		"pkg ours, method (List[T]) Promoted()",
		"pkg ours, type Alias = theirs.Store",
		"pkg ours, type Func func(any, any) bool",
		"pkg ours, type Level int",
		"pkg ours, type List[T any] struct",
		"pkg ours, type List[T any] struct, Items []T",
		"pkg ours, type List[T any] struct, Shown bool",
		"pkg ours, type List[T any] struct, embedded theirs.Store",
		"pkg ours, type Number interface { ~int | ~float64 }",
		"pkg ours, type Sealed interface { unexported methods }",
		"pkg ours, type Sealed interface, Name() string",
		"pkg ours, var V map[string]*theirs.Store",
		"pkg theirs, type Store interface { Get }",
		"pkg theirs, type Store interface, Get(string) any",
	}, listingOf(map[string]*types.Package{"theirs": theirs, "ours": ours}))
}

// A changelog names a declaration by its subject.
func TestSubjectOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"pkg informer/cache, const Added tools/cache.DeltaType = \"Added\"":             "cache.Added",
		"pkg factory, func For[T informer.Object](*factory.Factory) error":              "factory.For",
		"pkg factory, func NewX(int) error":                                             "factory.NewX",
		"pkg factory, var ErrX error":                                                   "factory.ErrX",
		"pkg lister, method (*Lister[T]) Get(string) (T, error)":                        "lister.Lister.Get",
		"pkg lister, method (Lister) Get(string) error":                                 "lister.Lister.Get",
		"pkg informer, type Status struct":                                              "informer.Status",
		"pkg informer, type Status struct, Objects int":                                 "informer.Status.Objects",
		"pkg informer, type Options[T informer.Object, U any] struct, F func(T, U) int": "informer.Options.F",
		"pkg informer, type T struct, embedded *reflector.Options":                      "informer.T.Options",
		"pkg informer, type T struct, embedded tools/cache.Indexer[K, V]":               "informer.T.Indexer",
		"pkg informer, type Shared interface { A, B }":                                  "informer.Shared",
		"pkg informer, type Shared interface, A(int) error":                             "informer.Shared.A",
		"pkg factory, type Option = informer.Option":                                    "factory.Option",
		"pkg factory, type Option[T any] = informer.Option":                             "factory.Option",
		"pkg factory, type Func func(int, string)":                                      "factory.Func",
	} {
		require.Equal(t, want, subject(line), line)
	}
}

// A declaration that is removed or changed needs a line in the changelog. A new declaration does not.
func TestBreakingRulesCanFail(t *testing.T) {
	was := []string{"pkg p, func A()", "pkg p, func B(int)", "pkg p, type I interface { M }", "pkg p, type I interface, M()"}
	now := []string{"pkg p, func B(string)", "pkg p, func New()", "pkg p, type I interface { M, N }", "pkg p, type I interface, M()", "pkg p, type I interface, N()"}
	gone := removed(nil, was, now)
	require.Equal(t, []string{"pkg p, func A()", "pkg p, func B(int)", "pkg p, type I interface { M }"}, gone)
	require.Equal(t, gone, removed(gone, now, now), "it stays recorded")
	require.Equal(t, []string{"pkg p, func B(int)", "pkg p, type I interface { M }"}, removed(gone, now, append(now, "pkg p, func A()")), "what is back is not gone")

	require.Equal(t, []string{"p.A", "p.B", "p.I"}, unmentioned(gone, "# Changelog\n\n## [Unreleased]\n\n### Changed\n\n- `p.A`, `p.B`, `p.I`\n"))
	require.Equal(t, []string{"p.I"}, unmentioned(gone, "# Changelog\n\n## [Unreleased]\n\n### Breaking\n\n- `p.A` is `p.B`.\n\n### Fixed\n\n- `p.I`\n"))
	require.Equal(t, []string{"p.I"}, unmentioned(gone, "\n## [Unreleased]\n\n### Breaking\n\n- `p.A` is `p.B`.\n\n## [0.37.0]\n\n### Breaking\n\n- `p.I`\n"))
	require.Empty(t, unmentioned(gone, "\n## [Unreleased]\n\n### Breaking\n\n- `p.A`, `p.B`, `p.I`\n"))

	require.False(t, released("# Changelog\n\n## [Unreleased]\n\nThe first version.\n"))
	require.True(t, released("# Changelog\n\n## [Unreleased]\n\n## [0.37.0] - 2026-12-01\n"))
}
