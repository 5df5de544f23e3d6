package lister_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/lister"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type object struct {
	key    indexer.Key
	labels labels.Set
}

// emptyLister returns an empty lister, and the writer of its store.
func emptyLister(t testing.TB) (*indexer.Writer, lister.Lister[*object]) {
	byNamespace := indexer.Index[*object]{
		Name:   indexer.NamespaceIndex,
		Append: func(v []string, o *object) []string { return append(v, o.key.Namespace) },
	}
	w, err := indexer.New(indexer.Options{
		Indexes:   []indexer.Index[any]{byNamespace.Untyped()},
		Labels:    func(obj any) map[string]string { return obj.(*object).labels },
		Namespace: func(obj any) string { return obj.(*object).key.Namespace },
	})
	require.NoError(t, err)
	return w, lister.New(indexer.View[*object](w.Indexer()), schema.GroupResource{Resource: "things"})
}

// filled returns a lister of 60 objects in three namespaces and none.
func filled(t testing.TB) (lister.Lister[*object], []*object) {
	w, l := emptyLister(t)
	var all []*object
	tx := w.Begin()
	defer tx.Commit()
	for i := range 60 {
		o := &object{indexer.Key{Namespace: []string{"", "a", "b", "c"}[i%4], Name: fmt.Sprint("n", i)}, labels.Set{}}
		if i%3 > 0 {
			o.labels["app"] = []string{"x", "y"}[i%2]
		}
		if i%5 > 0 {
			o.labels["size"] = fmt.Sprint(i % 7)
		}
		tx.Put(0, o.key, o, 0)
		all = append(all, o)
	}
	return l, all
}

// foreign is a selector of a type that the lister cannot know; its
// requirements tell less than it asks.
type foreign struct{ labels.Selector }

func (f foreign) Matches(l labels.Labels) bool {
	return f.Selector.Matches(l) && strings.Contains(l.Get("size"), "3")
}

func TestListAnswersAsTheSelectorMatches(t *testing.T) {
	l, all := filled(t)
	selectors := []labels.Selector{
		labels.Everything(), labels.Nothing(), labels.Set{}.AsSelector(), labels.Set{"app": "x"}.AsSelector(),
		labels.Set{"app": "x"}.AsSelectorPreValidated(), labels.ValidatedSetSelector{"app": "y", "size": "3"},
		foreign{labels.Set{"app": "x"}.AsSelector()},
	}
	for _, text := range []string{
		"app", "!app", "app=x", "app==y", "app!=x", "app in (x,y)", "app notin (x)", "size>3", "size<3", "app=x,size>2,!none", "none", "app=none",
	} {
		selector, err := labels.Parse(text)
		require.NoError(t, err)
		selectors = append(selectors, selector)
	}
	for _, selector := range selectors {
		for _, namespace := range []string{"", "a", "none"} {
			var want []*object
			for _, o := range all {
				if (namespace == "" || o.key.Namespace == namespace) && selector.Matches(o.labels) {
					want = append(want, o)
				}
			}
			got, err := l.Namespace(namespace).List(selector)
			require.NoError(t, err)
			require.ElementsMatch(t, want, got, "%T %q in %q", selector, selector, namespace)
			if len(want) == 0 {
				require.Nil(t, got, "as client-go's listers")
			}
		}
	}
}

func TestContract_D21_ANilSelectorSelectsEverything(t *testing.T) {
	l, all := filled(t)
	got, err := l.List(nil)
	require.NoError(t, err)
	require.ElementsMatch(t, all, got)
}

func TestGet(t *testing.T) {
	l, _ := filled(t)
	o, err := l.Namespace("a").Get("n1")
	require.NoError(t, err)
	require.Equal(t, "n1", o.key.Name)
	o, err = l.Get("n0")
	require.NoError(t, err, "cluster-scoped")
	require.Equal(t, "n0", o.key.Name)
	_, err = l.Namespace("b").Get("n1")
	require.True(t, apierrors.IsNotFound(err))
	require.ErrorContains(t, err, `things "n1" not found`)
}

// The store of an untyped informer may hold objects of any type.
func TestAnObjectOfAnotherTypeIsAnErrorAndNotANil(t *testing.T) {
	w, l := emptyLister(t)
	key := indexer.Key{Namespace: "a", Name: "n"}
	tx := w.Begin()
	tx.Put(0, key, &object{key: key}, 0)
	tx.Commit()
	other := lister.View[fmt.Stringer](lister.New(w.Indexer(), schema.GroupResource{Resource: "things"}))
	in := other.Namespace("a")

	got, err := in.Get("n")
	require.Nil(t, got)
	require.ErrorIs(t, err, indexer.ErrType)
	require.EqualError(t, err, `object "a/n": the object has another type: want fmt.Stringer, got *lister_test.object`)
	require.False(t, apierrors.IsNotFound(err))
	for _, selector := range []labels.Selector{nil, labels.Everything(), labels.Set{}.AsSelector()} {
		for _, l := range []lister.Lister[fmt.Stringer]{other, in} {
			all, err := l.List(selector)
			require.Empty(t, all)
			require.ErrorIs(t, err, indexer.ErrType)
			require.ErrorContains(t, err, "a/n")
		}
	}
	all, err := in.List(labels.Set{"app": "x"}.AsSelector())
	require.NoError(t, err, "it is none of them")
	require.Nil(t, all)

	_, err = l.Namespace("a").Get("n")
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = l.Namespace("a").Get("n") }))
}
