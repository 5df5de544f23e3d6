// Typed lists pods by node and by label, from a store that knows their Go type. It is a tour of the typed
// API, meant to be copied.
//
//	go run ./examples/typed --demo --for 10s
//	go run ./examples/typed --selector app=web
//	go run ./examples/typed --mark shop/web-0
//
// It prints the pods of each node, of a label selector, of a query with several conditions, and of each
// owner. Then it prints each change and, at the end, the status of the informer. With --mark, it annotates a
// pod, and reads the pod back from the store. It writes nothing else.
//
// It uses the cluster of --kubeconfig, $KUBECONFIG, ~/.kube/config, or the pod's service account. With
// --demo, or without such a cluster, it uses a demo cluster: an API server in this process. It stops at
// Ctrl-C, or after the duration of --for. The exit code is 0, or 1 after an error: an invalid flag or
// kubeconfig, a cluster that does not answer in time, or a missing pod.
//
// tour.go has the informer, main.go the flags, and demo.go the demo cluster. To copy the program, leave out
// demo.go, and call tour.run with your own rest.Config.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/indexer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	notes := log.New(stderr, "typed: ", log.LstdFlags|log.Lmsgprefix)
	f := demo.NewFlags("typed")
	t := tour{selector: labels.Everything(), out: log.New(stdout, "", log.LstdFlags)}
	f.Func("selector", "find the pods with these `labels`, such as app=web,track!=retiring", func(s string) (err error) {
		t.selector, err = labels.Parse(s)
		return err
	})
	f.Func("mark", "annotate this `pod`, given as namespace/name", func(s string) error {
		t.mark = indexer.ParseKey(s)
		if t.mark.Namespace == "" || t.mark.Name == "" {
			return errors.New("must be namespace/name")
		}
		return nil
	})
	err := f.Parse(args)
	if err == nil {
		err = f.Run(ctx, notes, story, func(ctx context.Context, c demo.Cluster) error {
			if c.Demo && t.mark == (indexer.Key{}) {
				t.mark = demoPod
			}
			return t.run(ctx, c.Config)
		})
	}
	return f.Exit(err, stdout, stderr)
}
