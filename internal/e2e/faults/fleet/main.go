// Command fleet is a typical controller of controller-runtime, on tidemark: for
// each Widget, a custom resource with a Go type, it keeps as many ready pods as
// the Widget says, and none once the Widget is gone.
//
// The scenarios run fleet while servers, connections and fleet itself are killed.
// It acts on events only and has no resync, so that a lost event shows: as a pod
// too many, too few or too old. For comparison, it runs on client-go's informers
// if $FLEET_ON is "client-go".
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
)

func main() {
	ctrl.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// run runs the manager on the cluster of $KUBECONFIG until ctx ends.
func run(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1 // the client must not limit the rate of requests
	types := runtime.NewScheme()
	if err := scheme.AddToScheme(types); err != nil {
		return err
	}
	addWidgets(types)
	newManager := func(config *rest.Config, o ctrl.Options) (ctrl.Manager, error) {
		return controllerruntime.NewManager(config, o)
	}
	if os.Getenv("FLEET_ON") == "client-go" {
		newManager = ctrl.NewManager
	}
	m, err := newManager(config, ctrl.Options{
		Scheme:  types,
		Metrics: server.Options{BindAddress: "0"}, // none are served
	})
	if err != nil {
		return err
	}
	if err := setUp(ctx, m); err != nil {
		return err
	}
	return m.Start(ctx)
}
