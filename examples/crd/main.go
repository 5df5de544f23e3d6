// Crd watches a custom resource, with and without a Go type for its objects. It is meant to be copied.
//
//	go run ./examples/crd --demo --for 10s
//	kubectl apply -f examples/crd/crontab.yaml
//	go run ./examples/crd
//
// It prints each change twice: as a *CronTab, which is a type registered with the factory, and as an
// unstructured object from the dynamic factory. If the resource does not exist yet, the program reports it,
// and waits until the resource appears.
//
// It uses the cluster of --kubeconfig, $KUBECONFIG, ~/.kube/config, or the pod's service account. With
// --demo, or without such a cluster, it uses a demo cluster: an API server in this process, which gets the
// resource a little later. It stops at Ctrl-C, or after the duration of --for. The exit code is 0, or 1 after
// an error: an invalid flag or kubeconfig, or a resource that does not appear in time.
//
// types.go has the Go type and its client, watch.go the informers, and demo.go the demo cluster. To copy the
// program, leave out demo.go, and call watch with your own rest.Config.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out, notes := log.New(stdout, "", log.LstdFlags), log.New(stderr, "crd: ", log.LstdFlags|log.Lmsgprefix)
	f := demo.NewFlags("crd")
	err := f.Parse(args)
	if err == nil {
		err = f.Run(ctx, notes, story, func(ctx context.Context, c demo.Cluster) error {
			return watch(ctx, c.Config, out, notes)
		})
	}
	return f.Exit(err, stdout, stderr)
}
