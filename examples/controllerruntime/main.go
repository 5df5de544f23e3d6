// Controllerruntime is a controller-runtime manager with tidemark's informers. One call makes it; the option
// shows the manager's own writes in its cache when the calls return:
//
//	controllerruntime.NewManager(config, options, controllerruntime.OwnWrites(reflector.NewOwnWrites()))
//
// One of its controllers prints the number of ready pods of each namespace when it changes. The other
// prints the Deployments that read a Secret when that changes, and what they own; it asks the cache for
// both. They write nothing to the cluster:
//
//	go run -C examples/controllerruntime . --demo --for 10s
//	go run -C examples/controllerruntime . --demo --metrics-address 127.0.0.1:8080 --health-address 127.0.0.1:8081
//	go run -C examples/controllerruntime . --budget 64
//	go run -C examples/controllerruntime . --shard 0/3
//
// With --budget the informers hold their objects packed, and so many MiB of them decoded as well. With --shard this is
// one of several processes, each with its namespaces; nobody keeps two processes apart, so each gets another share, and
// all are stopped before their number changes.
//
// It uses the cluster of --kubeconfig, $KUBECONFIG, ~/.kube/config or the pod's service account. With
// --demo, or if there is none, it uses a demo cluster: an API server in this process, with pods that
// come and go. The exit code is 0, or 1 after an error.
//
// It is a separate module, because tidemark does not depend on controller-runtime. If you copy it,
// leave out the replace line of go.mod and package demo, and call watch with a rest.Config of your
// own, such as that of ctrl.GetConfig.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	ctrl.SetLogger(klog.Background())
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := demo.NewFlags("controllerruntime")
	var serve addresses
	var more []controllerruntime.Option
	flags.Func("shard", "read the namespaces of this `share` alone, as in 0/3: the first of three; default: all", func(nth string) error {
		share, err := namespaces(nth)
		more = append(more, controllerruntime.Shard(share, &corev1.Pod{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &corev1.Secret{}))
		return err
	})
	budget := flags.Uint("budget", 0, "hold the objects packed, and this many `MiB` of them decoded as well; 0 for all decoded")
	flags.StringVar(&serve.metrics, "metrics-address", "0", "serve /metrics and /debug/informers at this `address`, such as 127.0.0.1:8080; 0 for nowhere")
	flags.StringVar(&serve.health, "health-address", "0", "serve /readyz and /healthz at this `address`, such as 127.0.0.1:8081; 0 for nowhere")
	if err := flags.Parse(args); err != nil {
		return flags.Exit(err, stdout, stderr)
	}
	notes := log.New(stderr, "controllerruntime: ", log.LstdFlags|log.Lmsgprefix)
	err := flags.Run(ctx, notes, story(notes), func(ctx context.Context, c demo.Cluster) error {
		// Without a deadline: while the manager starts, it reports a deadline as an error.
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		return watch(running, c.Config, serve, stdout, append(more, controllerruntime.Storage(storage(*budget)))...)
	})
	return flags.Exit(err, stdout, stderr)
}

// addresses are the addresses of the manager's servers.
type addresses struct{ metrics, health string }

// storage says how the informers hold their objects, with a budget of so many MiB.
func storage(budget uint) (s informer.Storage) {
	if budget > 0 {
		s.Decoded = informer.NewBudget(int64(budget) << 20)
	}
	return s
}

// namespaces returns a share of the namespaces, as in 0/3. The controllers count pods and look up what a Deployment owns:
// these are in the Deployment's namespace, and perhaps in another share of the UIDs.
func namespaces(nth string) (shard.Assignment, error) {
	index, total, err := shard.ParseNth(nth)
	if err != nil {
		return nil, err
	}
	share, err := shard.Nth(shard.ByNamespace, index, total)
	return shard.Static(share), err
}

// watch runs the manager until ctx ends.
func watch(ctx context.Context, config *rest.Config, serve addresses, out io.Writer, more ...controllerruntime.Option) error {
	more = append(more, controllerruntime.OwnWrites(reflector.NewOwnWrites()))
	m, err := controllerruntime.NewManager(config, ctrl.Options{
		Metrics:                server.Options{BindAddress: serve.metrics},
		HealthProbeBindAddress: serve.health,
		Controller:             ctrlconfig.Controller{SkipNameValidation: new(true)},
	}, more...)
	if err != nil {
		return fmt.Errorf("the manager cannot be made: %w", err)
	}
	defer m.GetHTTPClient().CloseIdleConnections()
	end, err := report(m)
	defer end()
	if err != nil {
		return fmt.Errorf("the manager cannot report its informers: %w", err)
	}
	lines := log.New(out, "", log.LstdFlags)
	for _, setUp := range []func(context.Context, ctrl.Manager, *log.Logger) error{setUpCounter, setUpRotations} {
		if err := setUp(ctx, m, lines); err != nil {
			return fmt.Errorf("a controller cannot be made: %w", err)
		}
	}

	began := time.Now()
	if err := m.Start(ctx); err != nil {
		return fmt.Errorf("the manager failed: %w", err)
	}
	_, err = fmt.Fprintf(out, "\nran for %v\n", time.Since(began).Round(100*time.Millisecond))
	return err
}
