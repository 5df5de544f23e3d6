// Namespaces watches the pods of some namespaces and of no others: of those that
// it is given, and of those that are labelled while it runs. It is made to be
// copied.
//
//	go run ./examples/namespaces --demo --for 10s
//	go run ./examples/namespaces --namespaces shop,billing --labels app=web
//	kubectl label namespace lab example.com/watched=yes
//
// A namespace that gets that label is watched, with a request of its own, and
// one that loses it is not watched any more. What happens to the pods is
// printed, and when each watch begins and ends. Of pods, no more is needed than
// list and watch in these namespaces; of namespaces, list and watch in all.
//
// The cluster is that of --kubeconfig, $KUBECONFIG or ~/.kube/config. With
// --demo, and where there is no kubeconfig, it is a made-up one, on an API
// server in this process. The program ends at Ctrl-C, or after the time given
// with --for. The exit code is 0, and 1 after an error: a flag or kubeconfig
// that cannot be used, or a cluster that did not answer in the time there was.
//
// scopes.go has the informers; tap.go looks on at the requests, cluster.go finds
// the cluster, and demo.go makes one up.
package main

import (
	"context"
	"flag"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("namespaces", flag.ContinueOnError)
	w := watcher{out: log.New(stdout, "", log.LstdFlags)}
	f.Func("namespaces", "watch the pods of these `namespaces`, such as shop,billing", func(s string) error {
		w.given = strings.Split(s, ",")
		return nil
	})
	f.Func("labels", "watch pods with these `labels` only, such as app=web,track!=retiring", func(s string) error {
		w.labels = s
		_, err := labels.Parse(s)
		return err
	})
	cluster, err := parse(f, args)
	if err == nil {
		err = look(ctx, cluster, w, log.New(stderr, "namespaces: ", log.LstdFlags|log.Lmsgprefix))
	}
	return exit(f, err, stdout, stderr)
}

// look watches a cluster until ctx ends or the time is up.
func look(ctx context.Context, cluster cluster, w watcher, notes *log.Logger) error {
	config, err := cluster.config()
	if err == nil && config == nil {
		var end func()
		if config, end, err = startDemo(ctx, notes); err == nil {
			defer end()
		}
		if w.given == nil {
			w.given = demoNamespaces
		}
	}
	if err != nil {
		return err
	}
	config = rest.CopyConfig(config)
	config.Wrap(tap(w.out))
	timed, stop := cluster.limit(ctx)
	defer stop()
	err = w.run(timed, config)
	if ctx.Err() != nil { // at Ctrl-C it is no matter how far it came
		return nil
	}
	return err
}
