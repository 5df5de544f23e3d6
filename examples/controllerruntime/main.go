// Controllerruntime is a controller-runtime manager with tidemark's informers. One call replaces
// ctrl.NewManager:
//
//	controllerruntime.NewManager(config, options, controllerruntime.OwnWrites(reflector.NewOwnWrites()))
//
// The first of its controllers prints the number of ready pods in each namespace when the number changes.
// When a Secret changes, the second controller prints the Deployments that read it, and what they own.
// Neither writes to the cluster:
//
//	go run -C examples/controllerruntime . --demo --for 10s
//	go run -C examples/controllerruntime . --demo --metrics-address 127.0.0.1:8080 --health-address 127.0.0.1:8081
//	go run -C examples/controllerruntime . --budget 64 --shard 0/3
//
// With --budget, the informers store their objects packed. With --shard, this process is one of several, each
// with its own namespaces: give each process its own share, and stop all processes before their number
// changes. The program uses the cluster of --kubeconfig, $KUBECONFIG, ~/.kube/config, or the pod's service
// account, or else a demo cluster.
//
// To copy the program, take this file, and call watch with your own rest.Config, such as that of
// ctrl.GetConfig.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
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
	var options ctrl.Options
	var more []controllerruntime.Option
	flags.Func("shard", "read only the namespaces of this `share`, such as 0/3 for the first of three; default: all namespaces", func(nth string) error {
		index, total, err := shard.ParseNth(nth)
		if err != nil {
			return err
		}
		share, err := shard.Nth(shard.ByNamespace, index, total) // keeps an object and its children in one share
		more = append(more, controllerruntime.Shard(shard.Static(share), &corev1.Pod{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &corev1.Secret{}))
		return err
	})
	budget := flags.Uint("budget", 0, "store the objects packed, and keep up to this many `MiB` of them decoded; 0 stores them decoded")
	flags.StringVar(&options.Metrics.BindAddress, "metrics-address", "0", "serve /metrics and /debug/informers at this `address`, such as 127.0.0.1:8080; 0 disables it")
	flags.StringVar(&options.HealthProbeBindAddress, "health-address", "0", "serve /readyz and /healthz at this `address`, such as 127.0.0.1:8081; 0 disables it")
	if err := flags.Parse(args); err != nil {
		return flags.Exit(err, stdout, stderr)
	}
	if *budget > 0 {
		more = append(more, controllerruntime.Storage(informer.Storage{Decoded: informer.NewBudget(int64(*budget) << 20)}))
	}
	options.Controller.SkipNameValidation = new(true)
	notes := log.New(stderr, "controllerruntime: ", log.LstdFlags|log.Lmsgprefix)
	err := flags.Run(ctx, notes, story(notes), func(ctx context.Context, c demo.Cluster) error {
		// The manager's context has no deadline, because a manager that is still starting reports a deadline
		// as an error.
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		return watch(running, c.Config, options, stdout, more...)
	})
	return flags.Exit(err, stdout, stderr)
}

// watch runs the manager until ctx ends.
func watch(ctx context.Context, config *rest.Config, options ctrl.Options, out io.Writer, more ...controllerruntime.Option) error {
	m, err := controllerruntime.NewManager(config, options, append(more,
		controllerruntime.OwnWrites(reflector.NewOwnWrites()),
		controllerruntime.Indexes(&appsv1.Deployment{}, refs.ByReference[*appsv1.Deployment]()),
		controllerruntime.Indexes(&appsv1.ReplicaSet{}, refs.ByOwner[*appsv1.ReplicaSet]()),
		controllerruntime.Page(options.Metrics.BindAddress != "0"))...)
	if err != nil {
		return fmt.Errorf("the manager cannot be created: %w", err)
	}
	defer m.GetHTTPClient().CloseIdleConnections()
	lines := log.New(out, "", log.LstdFlags)
	if err := errors.Join(
		m.AddHealthzCheck("ping", healthz.Ping),
		m.AddReadyzCheck("informers", controllerruntime.InformersOf(m).Ready),
		setUpCounter(m, lines), setUpRotations(m, lines),
	); err != nil {
		return fmt.Errorf("the manager cannot be set up: %w", err)
	}
	began := time.Now()
	if err := m.Start(ctx); err != nil {
		return fmt.Errorf("the manager failed: %w", err)
	}
	_, err = fmt.Fprintf(out, "\nran for %v\n", time.Since(began).Round(100*time.Millisecond))
	return err
}

// counter prints the number of ready pods of a namespace. Its controller has one worker, so it needs no lock.
type counter struct {
	cache   client.Reader
	out     *log.Logger
	printed map[string]string // by namespace
}

// setUpCounter adds the controller to a manager. Each request is the namespace of a changed pod.
func setUpCounter(m ctrl.Manager, out *log.Logger) error {
	namespaces := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: pod.GetNamespace()}}}
	})
	return ctrl.NewControllerManagedBy(m).Named("counter").
		Watches(&corev1.Pod{}, namespaces).
		Complete(&counter{cache: m.GetCache(), out: out, printed: map[string]string{}})
}

// Reconcile counts the pods of the request's namespace. It does not change pods, so it lists them without a
// copy.
func (c *counter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var pods corev1.PodList
	if err := c.cache.List(ctx, &pods, client.InNamespace(request.Name), client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, err
	}
	ready := 0
	for i := range pods.Items {
		if slices.ContainsFunc(pods.Items[i].Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			ready++
		}
	}
	if found := fmt.Sprintf("%d of %d", ready, len(pods.Items)); c.printed[request.Name] != found {
		c.printed[request.Name] = found
		c.out.Printf("%s: %s pods are ready", request.Name, found)
	}
	return reconcile.Result{}, nil
}

// rotations prints which Deployments read a changed Secret, and what they own.
type rotations struct {
	informers *controllerruntime.Informers
	out       *log.Logger
}

// setUpRotations adds the controller. Each request is a Deployment that has changed, or that refers to a
// changed Secret.
func setUpRotations(m ctrl.Manager, out *log.Logger) error {
	informers := controllerruntime.InformersOf(m)
	return ctrl.NewControllerManagedBy(m).Named("rotations").
		For(&appsv1.Deployment{}).
		Owns(&appsv1.ReplicaSet{}).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(controllerruntime.Referrers[*appsv1.Deployment](informers))).
		Complete(&rotations{informers, out})
}

// Reconcile prints what a Deployment reads and owns. The objects belong to the cache, so it does not change
// them.
func (c *rotations) Reconcile(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
	deployments, noDeployments := controllerruntime.View[*appsv1.Deployment](c.informers)
	replicaSets, noReplicaSets := controllerruntime.View[*appsv1.ReplicaSet](c.informers)
	secrets, noSecrets := controllerruntime.View[*corev1.Secret](c.informers)
	if err := errors.Join(noDeployments, noReplicaSets, noSecrets); err != nil {
		return reconcile.Result{}, err
	}
	d, ok := deployments.Get(request.NamespacedName)
	if !ok {
		return reconcile.Result{}, nil // deleted
	}
	owned, err := replicaSets.Find(refs.OwnedBy(d))
	if err != nil {
		return reconcile.Result{}, err
	}
	var reads, owns []string
	for _, r := range refs.In(d.Namespace, d) {
		if secret, ok := secrets.Get(client.ObjectKey{Namespace: r.Namespace, Name: r.Name}); ok && r.Group == "" && r.Kind == "Secret" {
			reads = append(reads, secret.Name+" at "+secret.ResourceVersion)
		}
	}
	for s := range owned {
		owns = append(owns, s.Name)
	}
	slices.Sort(reads)
	slices.Sort(owns)
	c.out.Printf("%s reads [%s] and owns [%s]", request, strings.Join(reads, " "), strings.Join(owns, " "))
	return reconcile.Result{}, nil
}
