// Crd watches the objects of a custom resource, with and without a Go type for them. It is meant to
// be copied.
//
//	go run ./examples/crd --demo --for 10s
//	kubectl apply -f examples/crd/crontab.yaml
//	go run ./examples/crd
//
// It prints each change twice: as a *CronTab, a type registered with the factory, and as an
// unstructured object of the dynamic factory. If the resource does not exist yet, the program says
// so, waits, and goes on when it appears.
//
// It uses the cluster of --kubeconfig, $KUBECONFIG or ~/.kube/config. With --demo, or without a
// kubeconfig, it uses a demo cluster: an API server in this process, which gets the resource a little
// later. It ends at Ctrl-C, or after the time given with --for. The exit code is 0, or 1 after an
// error: a flag or kubeconfig that cannot be used, or a resource that did not appear in time.
//
// types.go has the Go type and its client, watch.go the informers; cluster.go finds the cluster, and
// demo.go has the demo cluster.
package main

import (
	"context"
	"flag"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("crd", flag.ContinueOnError)
	cluster, err := parse(f, args)
	if err == nil {
		err = follow(ctx, cluster, log.New(stdout, "", log.LstdFlags), log.New(stderr, "crd: ", log.LstdFlags|log.Lmsgprefix))
	}
	return exit(f, err, stdout, stderr)
}

// follow watches the resource on a cluster until ctx ends or the time is up.
func follow(ctx context.Context, cluster cluster, out, notes *log.Logger) error {
	config, err := cluster.config()
	if err == nil && config == nil {
		var end func()
		if config, end, err = startDemo(ctx, notes); err == nil {
			defer end()
		}
	}
	if err != nil {
		return err
	}
	timed, stop := cluster.limit(ctx)
	defer stop()
	err = watch(timed, config, out, notes)
	if ctx.Err() != nil { // after Ctrl-C an incomplete run is no error
		return nil
	}
	return err
}
