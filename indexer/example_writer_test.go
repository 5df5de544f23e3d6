package indexer_test

import (
	"fmt"
	"strings"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// The writes of one section appear in lists at once.
func ExampleWriter() {
	w := fleet()
	tx := w.Begin()
	db := indexer.ParseKey("prod/db-1")
	_, old, replaced := tx.Put(0, db, &pod{key: db, node: "n3"}, 0)
	fmt.Println(replaced, "from", old.Object.(*pod).node)
	_, deleted := tx.Delete(indexer.ParseKey("prod/web-2"))
	fmt.Println(deleted)
	tx.SetVersion("43")
	tx.Commit()
	printNames(podsOf(w).Snapshot().List())
	// Output:
	// true from n1
	// true
	// [prod/db-1 prod/web-1]
}

// Staging collects a full state, and Commit replaces all stored objects at once.
func ExampleStaging() {
	w := fleet()
	s := w.Stage(0)
	fmt.Println(s.Keep(indexer.ParseKey("prod/web-1"), nil)) // the version is the same
	api := indexer.ParseKey("prod/api-1")
	s.Put(api, &pod{key: api, node: "n2"}, 0)
	printNames(podsOf(w).Snapshot().List())

	changes := s.Commit("50", indexer.Visitor{
		Deleted: func(key indexer.Key, _ any) { fmt.Println("gone:", key.Name) },
		Put:     func(key indexer.Key, _, _ any, replaced bool) { fmt.Println("put:", key.Name, replaced) },
	})
	fmt.Println(changes, "changes at", w.Indexer().Version())
	printNames(podsOf(w).Snapshot().List())
	// Unordered output:
	// true
	// [prod/db-1 prod/web-1 prod/web-2]
	// gone: db-1
	// gone: web-2
	// put: api-1 false
	// 3 changes at 50
	// [prod/api-1 prod/web-1]
}

// upper holds texts in upper case.
type upper struct{}

type stored struct{ text string }

func (upper) Encode(obj any) any {
	if s, ok := obj.(*stored); ok {
		return s
	}
	return &stored{strings.ToUpper(obj.(string))}
}

func (upper) Decode(obj any) any          { return strings.ToLower(obj.(*stored).text) }
func (u upper) ForList(int) func(any) any { return u.Decode }
func (upper) Count(any, int)              {}

// A codec decides how the store holds objects. Readers do not notice.
func ExampleCodec() {
	w, err := indexer.New(indexer.Options{Codec: upper{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	tx := w.Begin()
	key := indexer.Key{Name: "greeting"}
	put, _, _ := tx.Put(0, key, "hello", 0)
	tx.Commit()
	read, _ := w.Indexer().Get(key)
	fmt.Println(put.(*stored).text, read)
	// Output: HELLO hello
}
