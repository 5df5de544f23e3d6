package lister_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/lister"
)

// A list by a selector returns the objects that the selector matches, before and after the objects
// change. Tags are the labels of the objects, such as "a=1,b;a=2": a set for each object.
func FuzzSelector(f *testing.F) {
	for _, selector := range []string{
		"", "a", "!a", "a=", "a=1", "a==1,b!=2", "a in (1,2,1),b notin (2,3)", "a notin (,1)", "a>1", "a<2,a>0", "a in (),b", "x.io/a=1", "a=1,a=2", "a,!a",
	} {
		f.Add(selector, "a=1,b=2;a=2;b=3;;x.io/a=1;a=,b", uint8(1))
	}
	f.Fuzz(func(t *testing.T, text, tags string, turn uint8) {
		selector, err := labels.Parse(text)
		if err != nil {
			return
		}
		sets := readSets(tags)
		w, l := emptyLister(t)
		for round := range 3 {
			var all []*object
			tx := w.Begin()
			for i := range sets {
				o := &object{labels: sets[(i+round*int(turn))%len(sets)]}
				o.key = indexer.Key{Namespace: []string{"", "m", "n"}[i%3], Name: string(rune('a' + i))}
				tx.Put(0, o.key, o, 0)
				all = append(all, o)
			}
			tx.Commit()
			finds(t, l, all, selector)
		}
	})
}

func finds(t *testing.T, l lister.Lister[*object], all []*object, selector labels.Selector) {
	for _, namespace := range []string{"", "n", "none"} {
		var want []*object
		for _, o := range all {
			if (namespace == "" || o.key.Namespace == namespace) && selector.Matches(o.labels) {
				want = append(want, o)
			}
		}
		got, err := l.Namespace(namespace).List(selector)
		require.NoError(t, err)
		require.ElementsMatch(t, want, got, "%q in %q", selector, namespace)
	}
}

// readSets reads sets of labels, up to 26.
func readSets(tags string) (sets []labels.Set) {
	for text := range strings.SplitSeq(tags, ";") {
		set := labels.Set{}
		for pair := range strings.SplitSeq(text, ",") {
			if key, value, _ := strings.Cut(pair, "="); key != "" {
				set[key] = value
			}
		}
		if sets = append(sets, set); len(sets) == 26 {
			break
		}
	}
	return sets
}
