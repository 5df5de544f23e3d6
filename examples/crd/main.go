// Crd watches objects of a custom resource, with a Go type of its own and
// without one, made to be copied.
//
//	go run ./examples/crd --demo --for 10s
//	kubectl apply -f examples/crd/crontab.yaml
//	go run ./examples/crd
//
// Each change is told twice: as a *CronTab, which the factory knows since it is
// registered there, and as an unstructured object, by the dynamic factory. The
// resource need not be there yet. While it is not, the program says so and
// waits, and goes on when it appears.
//
// The cluster is that of --kubeconfig, $KUBECONFIG or ~/.kube/config. With
// --demo, and where there is no kubeconfig, it is a made-up one, on an API
// server in this process, which gets the resource a little later. The program
// ends at Ctrl-C, or after the time given with --for. The exit code is 0, and 1
// after an error: a flag or kubeconfig that cannot be used, or a resource that
// did not come in the time there was.
//
// types.go has the Go type and its client, watch.go the informers; cluster.go
// finds the cluster, and demo.go makes one up.
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
	context.AfterFunc(ctx, stop) // the second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program, and returns its exit code.
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
	if ctx.Err() != nil { // at Ctrl-C it is no matter how far it came
		return nil
	}
	return err
}
