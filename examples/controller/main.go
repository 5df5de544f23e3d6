// Controller keeps a summary of each Deployment that asks for one. It is a small but complete
// controller, meant to be copied.
//
//	go run ./examples/controller --demo --for 10s
//	go run ./examples/controller --workers 4
//	kubectl label deployment web example.com/summary=wanted
//
// A Deployment with that label gets a ConfigMap of the same name, with the number of its replicas and
// its images. The controller updates the ConfigMap with the Deployment, repairs it after other
// edits, and deletes it with the Deployment or its label. It does not touch a ConfigMap of that name
// with another owner.
//
// It uses the cluster of --kubeconfig, $KUBECONFIG or ~/.kube/config; there, the user needs list and
// watch on deployments, and all verbs on configmaps. With --demo, or without a kubeconfig, it uses a
// demo cluster: an API server in this process. It prints its actions to stdout and errors to stderr.
// It ends at Ctrl-C, or after the time given with --for. The exit code is 0, or 1 after an error: a
// flag or kubeconfig that cannot be used, or a cluster that did not answer in time. With
// --debug-address, /debug/informers at that address shows the informers; debug.go serves it.
//
// This file connects the parts; controller.go has the loop and summary.go the reconciliation.
// cluster.go finds the cluster, and demo.go has the demo cluster.
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
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("controller", flag.ContinueOnError)
	workers := f.Int("workers", 2, "number of Deployments to reconcile at the same time")
	var address string
	f.Func("debug-address", "serve a page about the informers at this `address`; :6060 means 127.0.0.1:6060; default none", func(s string) (err error) {
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

// settings are the controller's flags.
type settings struct {
	workers      int
	debugAddress string // empty for none
}

// manage runs the controller on a cluster until ctx ends or the time is up.
func manage(ctx context.Context, cluster cluster, s settings, actions, problems *log.Logger) error {
	config, err := cluster.config()
	if err == nil && config == nil {
		var end func()
		if config, end, err = startDemo(ctx, problems); err == nil {
			defer end()
		}
	}
	if err != nil {
		return err
	}
	timed, stop := cluster.limit(ctx)
	defer stop()
	err = control(timed, config, s, actions, problems)
	if ctx.Err() != nil { // after Ctrl-C an incomplete run is no error
		return nil
	}
	return err
}

// control runs the controller until ctx ends.
func control(ctx context.Context, config *rest.Config, s settings, actions, problems *log.Logger) error {
	config.QPS, config.Burst = 50, 100 // client-go's default of 5 requests a second suits kubectl only
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	// Watch and keep in memory only the objects that the controller needs.
	f := factory.NewSharedInformerFactory(client, 0)
	deployments, err := factory.Acquire[*appsv1.Deployment](f, factory.Scope{Labels: wantedLabel})
	if err != nil {
		return err
	}
	summaries, err := factory.Acquire[*corev1.ConfigMap](f, factory.Scope{Labels: managedByLabel + "=" + manager})
	if err != nil {
		return err
	}
	c, err := newController(client, deployments.Informer(), summaries.Informer(), actions, problems)
	if err != nil {
		return err
	}

	endDebug, err := serveDebug(s.debugAddress, f, problems)
	if err != nil {
		return err
	}
	defer endDebug()
	f.StartWithContext(ctx)
	err = c.run(ctx, s.workers)
	f.Shutdown() // ctx has ended; wait for the informers
	return err
}
