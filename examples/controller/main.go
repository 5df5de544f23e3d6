// Controller keeps a summary of each Deployment that asks for one: a small
// controller with all its parts, made to be copied.
//
//	go run ./examples/controller --demo --for 10s
//	go run ./examples/controller --workers 4
//	kubectl label deployment web example.com/summary=wanted
//
// A Deployment with that label gets a ConfigMap of its own name, which says how
// many replicas are wanted, and of which images. It follows the Deployment, is
// mended when someone else edits it, and goes with the Deployment or its label.
// A ConfigMap of that name that is someone else's is left alone.
//
// The cluster is that of --kubeconfig, $KUBECONFIG or ~/.kube/config; there,
// the user needs list and watch on deployments, and all verbs on configmaps.
// With --demo, and where there is no kubeconfig, it is a made-up one, on an API
// server in this process. What the controller does goes to stdout, what goes
// wrong to stderr. It ends at Ctrl-C, or after the time given with --for. The
// exit code is 0, and 1 after an error: a flag or kubeconfig that cannot be
// used, or a cluster that did not answer in the time there was. With
// --debug-address, a page shows what the informers do, at /debug/informers of
// that address; debug.go serves it.
//
// This file puts the parts together; controller.go is the loop and summary.go
// what it is for. cluster.go finds the cluster, and demo.go makes one up.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("controller", flag.ContinueOnError)
	workers := f.Int("workers", 2, "how many Deployments are worked on at the same time")
	var address string
	f.Func("debug-address", "show in a browser what the informers do, at this `address`; :6060 is 127.0.0.1:6060; otherwise nowhere", func(s string) (err error) {
		address, err = debugAddress(s)
		return err
	})
	cluster, err := parse(f, args)
	switch {
	case err == nil && *workers < 1:
		err = fmt.Errorf("invalid value \"%d\" for flag -workers: too few; %s -h lists the flags", *workers, f.Name())
	case err == nil:
		err = manage(ctx, cluster, settings{*workers, address}, log.New(stdout, "", log.LstdFlags), log.New(stderr, "controller: ", log.LstdFlags|log.Lmsgprefix))
	}
	return exit(f, err, stdout, stderr)
}

// settings are what the flags say of the controller.
type settings struct {
	workers      int
	debugAddress string // empty for none
}

// manage runs the controller on a cluster until ctx ends or the time is up.
func manage(ctx context.Context, cluster cluster, s settings, deeds, troubles *log.Logger) error {
	config, err := cluster.config()
	if err == nil && config == nil {
		var end func()
		if config, end, err = startDemo(ctx, troubles); err == nil {
			defer end()
		}
	}
	if err != nil {
		return err
	}
	timed, stop := cluster.limit(ctx)
	defer stop()
	err = control(timed, config, s, deeds, troubles)
	if ctx.Err() != nil { // at Ctrl-C it is no matter how far it came
		return nil
	}
	return err
}

// control runs the controller until ctx ends.
func control(ctx context.Context, config *rest.Config, s settings, deeds, troubles *log.Logger) error {
	config.QPS, config.Burst = 50, 100 // client-go's own 5 a second are meant for kubectl
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	// Only what the controller cares for is watched and held in memory.
	f := factory.NewSharedInformerFactory(client, 0)
	deployments, err := factory.Acquire[*appsv1.Deployment](f, factory.Scope{Labels: wantedLabel})
	if err != nil {
		return err
	}
	summaries, err := factory.Acquire[*corev1.ConfigMap](f, factory.Scope{Labels: managedByLabel + "=" + manager})
	if err != nil {
		return err
	}
	c, err := newController(client, deployments.Informer(), summaries.Informer(), deeds, troubles)
	if err != nil {
		return err
	}

	endDebug, err := serveDebug(s.debugAddress, f, troubles)
	if err != nil {
		return err
	}
	defer endDebug()
	f.StartWithContext(ctx)
	err = c.run(ctx, s.workers)
	f.Shutdown() // returns when the informers have ended, as ctx has
	return err
}
