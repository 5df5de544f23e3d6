package lister_test

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/lister"
)

// A lister usually comes from an informer or a factory, whose store it reads.
func ExampleLister() {
	lamp := &object{indexer.Key{Namespace: "prod", Name: "lamp"}, labels.Set{"color": "red"}}
	w, err := indexer.New(indexer.Options{
		Labels:    func(obj any) map[string]string { return obj.(*object).labels },
		Namespace: func(obj any) string { return obj.(*object).key.Namespace },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tx := w.Begin()
	tx.Put(0, lamp.key, lamp, 0)
	tx.Commit()
	gadgets := lister.New(indexer.View[*object](w.Indexer()), schema.GroupResource{Group: "example.com", Resource: "gadgets"})

	found, err := gadgets.Namespace("prod").Get("lamp")
	fmt.Println(found.key, err)
	_, err = gadgets.Namespace("test").Get("lamp")
	fmt.Println(err, apierrors.IsNotFound(err))

	red, err := labels.Parse("color in (red, green), !hidden") // answered from an index
	if err != nil {
		fmt.Println(err)
		return
	}
	all, err := gadgets.List(red)
	fmt.Println(len(all), err)
	// Output:
	// prod/lamp <nil>
	// gadgets.example.com "lamp" not found true
	// 1 <nil>
}
