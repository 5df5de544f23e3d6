package faults

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
)

var errNone = errors.New("none")

// behind returns an error if the cache differs from the server's objects in a UID or version.
func (m *mirror[T]) behind(truth map[indexer.Key]T) error {
	x := m.informer.Indexer()
	for k, want := range truth {
		if got, ok := x.Get(k); !ok || identity(got) != identity(want) {
			return fmt.Errorf("%v is %s on the server, but %s in the cache", k, identity(want), identityIf(got, ok))
		}
	}
	if n := x.Len(); n != len(truth) {
		return fmt.Errorf("the server has %d objects, but the cache has %d", len(truth), n)
	}
	return nil
}

// viewsDiffer returns an error if a handler's view differs from the cache.
func (m *mirror[T]) viewsDiffer() error {
	for _, v := range m.views {
		if err := v.Differs(m.informer.Indexer().All()); err != nil {
			return err
		}
	}
	return nil
}

// verify compares the results of every kind of query with the server's objects.
func (m *mirror[T]) verify(truth map[indexer.Key]T) {
	t := m.s.t
	t.Helper()
	for _, v := range m.views {
		problems := v.Problems()
		for _, p := range problems[:min(len(problems), 10)] {
			t.Error(p)
		}
	}
	problems := errors.Join(m.contentDiffers(truth), m.indexesDiffer(truth), m.selectionsDiffer(truth))
	if problems != nil {
		t.Error(problems)
	}
}

// contentDiffers compares the objects field by field.
func (m *mirror[T]) contentDiffers(truth map[indexer.Key]T) error {
	for k, want := range truth {
		got, _ := m.informer.Indexer().Get(k)
		if !equality.Semantic.DeepEqual(bare(got), bare(want)) {
			return fmt.Errorf("%v differs from the server's:\n%+v\n%+v", k, got, want)
		}
	}
	return nil
}

// bare returns a typed object without its kind, because objects in watches have a kind, and objects in
// lists do not.
func bare(obj runtime.Object) runtime.Object {
	if _, ok := obj.(*unstructured.Unstructured); ok {
		return obj
	}
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj
}

// indexesDiffer compares all values of all indexes.
func (m *mirror[T]) indexesDiffer(truth map[indexer.Key]T) error {
	x := m.informer.Indexer()
	indexes := append([]indexer.Index[T]{{
		Name: indexer.NamespaceIndex, Append: func(values []string, obj T) []string { return append(values, obj.GetNamespace()) },
	}}, m.indexes...)
	for _, index := range indexes {
		want := map[string][]indexer.Key{}
		for k, obj := range truth {
			for _, value := range index.Append(nil, obj) {
				want[value] = append(want[value], k)
			}
		}
		values, err := x.Values(index.Name)
		if err != nil {
			return err
		}
		if !sameSet(values, slices.Collect(maps.Keys(want)), compareStrings) {
			return fmt.Errorf("index %s has %d values, want %d", index.Name, len(values), len(want))
		}
		for value, keys := range want {
			if err := sameKeys(keys, slices.Collect(x.By(index.Name, value))); err != nil {
				return fmt.Errorf("index %s, value %q: %w", index.Name, value, err)
			}
		}
	}
	return nil
}

// selectors are compared on every store. Some select objects, some do not, and some are answered without
// an index.
var selectors = []string{
	"", "app=app-03", "app!=app-03", "tier in (front,back),app notin (app-01,app-02)", "round", "!round",
	"app=app-04,round", "serial=17", "nothing=here", "tier=batch,serial!=5", "round=7",
}

func (m *mirror[T]) selectionsDiffer(truth map[indexer.Key]T) error {
	for _, text := range selectors {
		selector, err := labels.Parse(text)
		if err != nil {
			return err
		}
		for _, namespace := range []string{"", "team-003", "default", "nowhere"} {
			var want []indexer.Key
			for k, obj := range truth {
				if (namespace == "" || k.Namespace == namespace) && selector.Matches(labels.Set(obj.GetLabels())) {
					want = append(want, k)
				}
			}
			got, err := m.informer.Lister().Namespace(namespace).List(selector)
			if err == nil {
				err = sameKeys(want, got)
			}
			if err != nil {
				return fmt.Errorf("selector %q in %q: %w", text, namespace, err)
			}
		}
	}
	return nil
}

func sameKeys[T informer.Object](want []indexer.Key, objects []T) error {
	got := make([]indexer.Key, len(objects))
	for i, obj := range objects {
		got[i] = keyOf(obj)
	}
	if !sameSet(got, want, compareKeys) {
		return fmt.Errorf("got %d objects, want %d", len(got), len(want))
	}
	return nil
}

func sameSet[E comparable](a, b []E, compare func(a, b E) int) bool {
	slices.SortFunc(a, compare)
	slices.SortFunc(b, compare)
	return slices.Equal(a, b)
}

func compareStrings(a, b string) int { return cmp.Compare(a, b) }

func compareKeys(a, b indexer.Key) int { return cmp.Compare(a.String(), b.String()) }

func byKey[T informer.Object](all []T) map[indexer.Key]T {
	m := make(map[indexer.Key]T, len(all))
	for _, obj := range all {
		m[keyOf(obj)] = obj
	}
	return m
}
