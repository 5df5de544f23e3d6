// Controller keeps a summary of each Deployment that requests one. It is a small but complete controller,
// meant to be copied.
//
//	go run ./examples/controller --demo --for 10s
//	go run ./examples/controller --workers 4 --budget 16
//	kubectl label deployment web example.com/summary=wanted
//
// A Deployment with that label gets a ConfigMap with its name, number of replicas and images. The controller
// updates the ConfigMap with the Deployment, restores it after other edits, and deletes it with the
// Deployment or the label. It does not touch a ConfigMap of that name if neither the controller's label nor
// its owner shows that it belongs to the controller.
//
// It uses the cluster of --kubeconfig, $KUBECONFIG, ~/.kube/config, or the pod's service account. There it
// needs list and watch on deployments, and all verbs on configmaps. With --demo, or without such a cluster,
// it uses a demo cluster: an API server in this process. It prints its actions to stdout and errors to
// stderr. It stops at Ctrl-C, or after the duration of --for. The exit code is 0, or 1 after an error: an
// invalid flag or kubeconfig, or a cluster that does not answer in time. With --debug-address, the page
// /debug/informers at that address shows the informers. With --budget, the informers store their objects
// packed, and keep up to that many MiB of them decoded.
//
// This file connects the parts. controller.go has the loop, summary.go the reconciliation, and demo.go the
// demo cluster. To copy the program, leave out demo.go, and call control with your own rest.Config.
package main

import (
	"context"
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

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/debug"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	actions, problems := log.New(stdout, "", log.LstdFlags), log.New(stderr, "controller: ", log.LstdFlags|log.Lmsgprefix)
	f := demo.NewFlags("controller")
	var s settings
	f.IntVar(&s.workers, "workers", 2, "reconcile up to this `number` of Deployments at the same time")
	f.UintVar(&s.budget, "budget", 0, "store the objects packed, and keep up to this many `MiB` of them decoded; 0 stores them decoded")
	f.DebugAddress(&s.debugAddress)
	err := f.Parse(args)
	switch {
	case err == nil && s.workers < 1:
		err = f.Misused(fmt.Errorf("invalid value \"%d\" for flag -workers: must be at least 1", s.workers))
	case err == nil:
		err = f.Run(ctx, problems, story, func(ctx context.Context, c demo.Cluster) error {
			return control(ctx, c.Config, s, actions, problems)
		})
	}
	return f.Exit(err, stdout, stderr)
}

// settings are the controller's flags.
type settings struct {
	workers      int
	budget       uint   // of decoded objects in MiB; 0 to store all objects decoded
	debugAddress string // empty for none
}

// control runs the controller until ctx ends.
func control(ctx context.Context, config *rest.Config, s settings, actions, problems *log.Logger) error {
	config.QPS, config.Burst = 50, 100 // client-go's default of 5 requests a second is too low for a controller
	own := reflector.NewOwnWrites()    // makes own writes visible in the stores when their calls return
	config.Wrap(own.Wire)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	// Watch and store only the objects that the controller needs.
	f := factory.NewSharedInformerFactoryWithOptions(client, 0, factory.WithStorage(storage(s.budget)))
	deployments, err := factory.Acquire[*appsv1.Deployment](f, factory.Scope{Labels: wantedLabel})
	if err != nil {
		return err
	}
	summaries, err := factory.Acquire[*corev1.ConfigMap](f, factory.Scope{Labels: managedByLabel + "=" + manager})
	if err != nil {
		return err
	}
	c, err := newController(client, own, deployments.Informer(), summaries.Informer(), actions, problems)
	if err != nil {
		return err
	}

	page := debug.New(debug.Options{}, f.Informers())
	endDebug, err := demo.Serve(s.debugAddress, "/debug/informers", page, problems)
	if err != nil {
		return err
	}
	defer endDebug()
	f.StartWithContext(ctx)
	err = c.run(ctx, s.workers)
	f.Shutdown() // ctx has ended; wait for the informers
	return err
}

// storage returns the storage of the informers, for a budget in MiB.
func storage(budget uint) (s informer.Storage) {
	if budget > 0 {
		s.Decoded = informer.NewBudget(int64(budget) << 20)
	}
	return s
}
