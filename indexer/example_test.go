package indexer_test

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/indexer"
)

type pod struct {
	key    indexer.Key
	node   string
	labels map[string]string
}

var byNode = indexer.Index[*pod]{Name: "node", Append: func(values []string, p *pod) []string {
	return append(values, p.node)
}}

// podsOf returns a typed view of a store of pods.
func podsOf(w *indexer.Writer) *indexer.Indexer[*pod] { return indexer.View[*pod](w.Indexer()) }

// fleet is a store of three pods, with an index by node.
func fleet() *indexer.Writer {
	w, err := indexer.New(indexer.Options{
		Indexes:   []indexer.Index[any]{byNode.Untyped()},
		Labels:    func(obj any) map[string]string { return obj.(*pod).labels },
		Namespace: func(obj any) string { return obj.(*pod).key.Namespace },
	})
	if err != nil {
		panic(err)
	}
	tx := w.Begin()
	defer tx.Commit()
	for _, p := range []*pod{
		{indexer.ParseKey("prod/web-1"), "n1", map[string]string{"app": "web"}},
		{indexer.ParseKey("prod/web-2"), "n2", map[string]string{"app": "web"}},
		{indexer.ParseKey("prod/db-1"), "n1", map[string]string{"app": "db"}},
	} {
		tx.Put(0, p.key, p, 0)
	}
	tx.SetVersion("42")
	return w
}

func printNames(pods []*pod) {
	var names []string
	for _, p := range pods {
		names = append(names, p.key.String())
	}
	slices.Sort(names)
	fmt.Println(names)
}

func ExampleIndexer_By() {
	pods := podsOf(fleet())
	printNames(slices.Collect(pods.By("node", "n1")))
	_, err := pods.Lookup("zone", "z1")
	fmt.Println(err)
	// Output:
	// [prod/db-1 prod/web-1]
	// no index with this name: "zone"
}

func ExampleSnapshot() {
	w := fleet()
	before := podsOf(w).Snapshot()
	tx := w.Begin()
	tx.Delete(indexer.Key{Namespace: "prod", Name: "db-1"})
	tx.SetVersion("43")
	tx.Commit()
	after := podsOf(w).Snapshot()
	fmt.Println(before.Len(), "at", before.Version())
	fmt.Println(after.Len(), "at", after.Version())
	printNames(before.List())
	// Output:
	// 3 at 42
	// 2 at 43
	// [prod/db-1 prod/web-1 prod/web-2]
}

func ExampleIndexer_Find() {
	pods := podsOf(fleet())
	web := labels.SelectorFromSet(labels.Set{"app": "web"})
	onOne := indexer.Query{Namespace: "prod", Labels: web, Fields: map[string]string{"node": "n1"}}
	found, err := pods.Find(onOne)
	fmt.Println(onOne, err)
	printNames(found.List())

	databases := indexer.Query{Labels: labels.SelectorFromSet(labels.Set{"app": "db"})}
	either, err := pods.Find(onOne, databases)
	fmt.Println(either.Len(), "at", either.Version(), err)
	printNames(either.List())
	// Output:
	// in prod with app=web and node=n1 <nil>
	// [prod/web-1]
	// 2 at 42 <nil>
	// [prod/db-1 prod/web-1]
}

func ExampleIndexer_Select() {
	pods := podsOf(fleet())
	printNames(pods.Select("prod", labels.SelectorFromSet(labels.Set{"app": "web"})))
	others, err := labels.Parse("app!=web")
	if err != nil {
		fmt.Println(err)
		return
	}
	printNames(pods.Select("", others))
	printNames(pods.Select("test", labels.Everything()))
	// Output:
	// [prod/web-1 prod/web-2]
	// [prod/db-1]
	// []
}
