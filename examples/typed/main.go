// Typed lists pods by node and by label, from a cache that knows their type. It is a tour of the
// typed API, meant to be copied.
//
//	go run ./examples/typed --demo --for 10s
//	go run ./examples/typed --selector app=web
//	go run ./examples/typed --mark shop/web-0
//
// It prints the pods of each node, the pods that match a label selector, then each change, and at
// the end the status of the informer. With --mark it annotates a pod and reads the pod back from the
// cache; it writes nothing else.
//
// It uses the cluster of --kubeconfig, $KUBECONFIG or ~/.kube/config. With --demo, or without a
// kubeconfig, it uses a demo cluster: an API server in this process. It ends at Ctrl-C, or after the
// time given with --for. The exit code is 0, or 1 after an error: a flag or kubeconfig that cannot be
// used, a cluster that did not answer in time, or no such pod to mark.
//
// The informer is in tour.go; main.go is the program around it, cluster.go finds the cluster, and
// demo.go has the demo cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/indexer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("typed", flag.ContinueOnError)
	t := tour{selector: labels.Everything(), out: log.New(stdout, "", log.LstdFlags)}
	f.Func("selector", "look up the pods with these `labels`, such as app=web,track!=retiring", func(s string) (err error) {
		t.selector, err = labels.Parse(s)
		return err
	})
	f.Func("mark", "annotate this `pod`, written namespace/name", func(s string) error {
		t.mark = indexer.ParseKey(s)
		if t.mark.Namespace == "" || t.mark.Name == "" {
			return errors.New("it is not written namespace/name")
		}
		return nil
	})
	cluster, err := parse(f, args)
	if err == nil {
		err = guide(ctx, cluster, t, log.New(stderr, "typed: ", log.LstdFlags|log.Lmsgprefix))
	}
	return exit(f, err, stdout, stderr)
}

// guide runs the tour on a cluster until ctx ends or the time is up.
func guide(ctx context.Context, cluster cluster, t tour, notes *log.Logger) error {
	config, err := cluster.config()
	if err == nil && config == nil {
		var end func()
		if config, end, err = startDemo(ctx, notes); err == nil {
			defer end()
		}
		if t.mark == (indexer.Key{}) {
			t.mark = demoPod
		}
	}
	if err != nil {
		return err
	}
	timed, stop := cluster.limit(ctx)
	defer stop()
	err = t.run(timed, config)
	if ctx.Err() != nil { // after Ctrl-C an incomplete run is no error
		return nil
	}
	return err
}
