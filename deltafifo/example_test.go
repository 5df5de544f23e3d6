package deltafifo_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark-k8s/tidemark/deltafifo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

// A sink queues what a reflector writes, and its consumer takes all that waits at once.
func ExampleDeltaFIFO() {
	ctx, queue := context.Background(), deltafifo.New()
	web := indexer.Key{Namespace: "shop", Name: "web"}
	err := errors.Join(
		queue.Push(ctx, deltafifo.Delta{Op: deltafifo.Begin}),
		queue.Push(ctx, deltafifo.Delta{Op: deltafifo.Added, Key: web, Version: "7", Object: "a pod"}),
		queue.Push(ctx, deltafifo.Delta{Op: deltafifo.Commit, Version: "9"}),
	)
	queue.Close()
	for err == nil {
		var batch []deltafifo.Delta
		batch, err = queue.Drain(ctx)
		for _, d := range batch {
			fmt.Printf("%v %q %q\n", d.Op, d.Key, d.Version)
		}
	}
	fmt.Println(err)
	// Output:
	// begin "" ""
	// added "shop/web" "7"
	// commit "" "9"
	// the queue is closed
}
