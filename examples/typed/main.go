// Typed shows who runs where: pods by node and by label, out of a cache that
// knows their type. It is a tour of the native face, made to be copied.
//
//	go run ./examples/typed --demo --for 10s
//	go run ./examples/typed --selector app=web
//	go run ./examples/typed --mark shop/web-0
//
// It prints the pods of each node, those that a label selector matches, and
// then what changes, as it changes; at the end, how the informer did. With
// --mark it annotates one pod, and reads it back from the cache: the one thing
// it writes.
//
// The cluster is that of --kubeconfig, $KUBECONFIG or ~/.kube/config. With
// --demo, and where there is no kubeconfig, it is a made-up one, on an API
// server in this process. It ends at Ctrl-C, or after the time given with --for.
// The exit code is 0, and 1 after an error: a flag or kubeconfig that cannot be
// used, a cluster that did not answer in the time there was, or a pod to mark
// that is not there.
//
// The informer is in tour.go; main.go is the program around it, cluster.go finds
// the cluster, and demo.go makes one up.
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
	context.AfterFunc(ctx, stop) // the second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program, and returns its exit code.
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

// guide gives the tour on a cluster until ctx ends or the time is up.
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
	if ctx.Err() != nil { // at Ctrl-C it is no matter how far it came
		return nil
	}
	return err
}
