// Command fleet is a typical controller-runtime controller on tidemark. For each Widget, a custom
// resource with a Go type, it keeps as many ready pods as the Widget says. It deletes the pods of
// deleted Widgets.
//
// The scenarios run fleet while servers, connections and fleet itself are killed. It only acts on events
// and has no resync, so that a lost event shows as an extra, missing or outdated pod. If $FLEET_ON is
// "client-go", it uses client-go's informers for comparison.
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
	config.QPS = -1 // disables the client's rate limit
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
		Metrics: server.Options{BindAddress: "0"}, // disabled
	})
	if err != nil {
		return err
	}
	if err := setUp(ctx, m); err != nil {
		return err
	}
	return m.Start(ctx)
}
