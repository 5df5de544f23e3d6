// Namespaces watches only the pods of some namespaces: those given as flags, and those with a label. It is
// meant to be copied.
//
//	go run ./examples/namespaces --demo --for 10s
//	go run ./examples/namespaces --namespaces shop,billing --labels app=web
//	kubectl label namespace lab example.com/watched=yes
//
// A namespace that gets the label is watched, with its own request, until it loses the label. The program
// prints changes of pods, and the beginning and end of each watch. It needs permission to list and watch pods
// in these namespaces, and to list and watch all namespaces.
//
// It uses the cluster of --kubeconfig, $KUBECONFIG, ~/.kube/config, or the pod's service account. With
// --demo, or without such a cluster, it uses a demo cluster: an API server in this process. It stops at
// Ctrl-C, or after the duration of --for. The exit code is 0, or 1 after an error: an invalid flag or
// kubeconfig, or a cluster that does not answer in time.
//
// scopes.go has the informers, tap.go observes the requests, and demo.go has the demo cluster. To copy the
// program, leave out demo.go, and call watcher.run with your own rest.Config.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	notes := log.New(stderr, "namespaces: ", log.LstdFlags|log.Lmsgprefix)
	f := demo.NewFlags("namespaces")
	w := watcher{out: log.New(stdout, "", log.LstdFlags)}
	f.Func("namespaces", "watch the pods of these `namespaces`, such as shop,billing", func(s string) error {
		w.given = strings.Split(s, ",")
		return nil
	})
	f.Func("labels", "watch only pods with these `labels`, such as app=web,track!=retiring", func(s string) error {
		w.labels = s
		_, err := labels.Parse(s)
		return err
	})
	err := f.Parse(args)
	if err == nil {
		err = f.Run(ctx, notes, story, func(ctx context.Context, c demo.Cluster) error {
			if c.Demo && w.given == nil {
				w.given = demoNamespaces
			}
			config := rest.CopyConfig(c.Config)
			config.Wrap(tap(w.out))
			return w.run(ctx, config)
		})
	}
	return f.Exit(err, stdout, stderr)
}
