// Podwatch prints what happens to the pods of a cluster, one line an event: a
// first informer, made to be copied.
//
//	go run ./examples/podwatch --demo --for 10s
//	go run ./examples/podwatch --namespace shop --selector app=web
//	go run ./examples/podwatch --output json --field-selector spec.nodeName=node-1 | jq .name
//
// # Cluster
//
// The cluster is the first of these that there is:
//
//  1. with --demo, a made-up one: an API server in this process, and pods that
//     come and go;
//  2. that of the kubeconfig named with --kubeconfig;
//  3. that of the kubeconfig, or of several, named in $KUBECONFIG;
//  4. that of ~/.kube/config;
//  5. in a pod, where $KUBERNETES_SERVICE_HOST is set, that of its service account;
//  6. the made-up one.
//
// A kubeconfig that is named and does not exist is an error. Of a kubeconfig,
// --context chooses another context than the current one. Only --namespace
// chooses a namespace; that of the context does not matter.
//
// # Output
//
// The events go to stdout. The pods that are there already are added first. A
// pod that changes is added and deleted as it comes under the selectors and
// leaves them. With --resync, all pods are updated again and again, from
// themselves to themselves. --output says what a line looks like:
//
// With text, which is the default, in the words that informers have always
// used. NAME is the pod's name, without its namespace:
//
//	2026/01/31 12:00:00 New Pod Added to Store: NAME
//	2026/01/31 12:00:00 NAME Pod Updated to NAME
//	2026/01/31 12:00:00 Pod Deleted from Store: NAME
//
// With wide, in columns: the time, the event (added, updated or deleted), the
// namespace and name, the phase and the node of the pod, and what changed.
// What changed is some of labels, phase and ready, or else one of
//
//	resync   nothing: this is a resync
//	other    something else
//	initial  the pod was there already
//	lost     the delete was not seen, but found out from a list
//
// With json, one object a line and nothing else. Each has all of these fields:
//
//	time             when podwatch was told of it, in RFC 3339
//	event            "added", "updated" or "deleted"
//	namespace, name  of the pod
//	uid              of the pod
//	resourceVersion  of the pod's present state, or of its last one
//	phase            such as "Running"
//	ready            whether the pod is ready
//	node             where the pod runs; "" while it has no node
//	labels           of the pod, an object
//	changed          an array of "labels", "phase" and "ready"; or ["resync"] or
//	                 ["other"]; [] unless the event is "updated"
//	initial          whether the pod was there already
//	lost             whether the delete was not seen, but found out from a list;
//	                 the other fields are then what was known last
//
// With --record, what the server answers is written to a file too, one line of
// JSON at a time: informertest.Replay plays it back to an informer, in a test.
//
// With --debug-address, a page shows what the informer does, at /debug/informers
// of that address.
//
// At the end, after the time given with --for or at Ctrl-C, a summary follows:
// on stdout, but with json on stderr.
//
// While the first list comes, stderr tells how far it is: how many pods have
// come, and of how many if the server says so. On a terminal this is a bar,
// which goes away; elsewhere it is a line a second. Trouble with the server is
// told on stderr, too.
//
// The exit code is 0, and 1 after an error: a flag or kubeconfig that cannot be
// used, and a server that podwatch could not get the pods from. Once it has
// them it does not give up any more, whatever happens to the server.
//
// # Files
//
// The informer is all in this file. Of the others, options.go reads the flags;
// connect.go and config.go find the cluster; event.go says what an event is, and
// output.go and its kin print it; progress.go, bar.go and screen.go show how far
// the first list is; monitor.go and explain.go tell what goes wrong; tally.go
// counts; record.go is for --record, and debug.go for --debug-address; and demo.go is the made-up cluster: a copy does without it and the
// lines of connect.go that call it.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second Ctrl-C kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if err == nil {
		err = podwatch(ctx, o, stdout, stderr)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(stdout)
	case err != nil:
		log.New(stderr, "podwatch: ", 0).Print(oneLine(err.Error()))
		return 1
	}
	return 0
}

// podwatch prints the events of pods until ctx ends or the time is up.
func podwatch(ctx context.Context, o options, stdout, stderr io.Writer) error {
	screen := newScreen(stderr)
	notes := log.New(screen, "podwatch: ", log.LstdFlags|log.Lmsgprefix)
	cluster, err := connect(ctx, o, notes)
	if err != nil {
		return err
	}
	defer cluster.close()
	timed, stop := o.limit(ctx)
	defer stop()
	progress := newProgress(screen, notes)
	defer progress.end()
	monitor := newMonitor(cluster, o, notes, progress, stop)
	defer monitor.close()

	// The factory makes one informer of each kind that it is asked for, and
	// runs them all. Configure is for what client-go's factory has no option for.
	f := factory.NewSharedInformerFactoryWithOptions(cluster.client, o.resync,
		factory.WithNamespace(o.namespace),
		factory.WithTweakListOptions(func(l *metav1.ListOptions) { l.LabelSelector, l.FieldSelector = o.labels, o.fields }))
	if err := factory.Configure(f, informer.Options[*corev1.Pod]{Observe: monitor.observe}); err != nil {
		return err
	}

	// The informer mirrors the pods into its store, and tells its handlers of
	// each change.
	var told tally
	show := o.output(stdout)
	_, err = f.Core().V1().Pods().Informer().AddEventHandler(handler(func(e event) {
		progress.end() // or the line would come behind the bar
		told.count(e)
		show(e)
	}))
	if err != nil {
		return err
	}

	endDebug, err := serveDebug(o.debug, f, notes)
	if err != nil {
		return err
	}
	defer endDebug()

	// Start returns at once. A controller would start its workers when the
	// caches are synced. Shutdown returns when the context has ended, and the
	// informers and handlers have too.
	began := time.Now()
	f.StartWithContext(timed)
	synced := f.WaitForCacheSyncWithContext(timed)
	took := time.Since(began)
	if synced.Err != nil {
		stop()
	}
	f.Shutdown()
	if synced.Err != nil && ctx.Err() == nil { // and it was not Ctrl-C
		return monitor.reason()
	}
	pods, err := factory.For[*corev1.Pod](f) // the same informer, with types and a Status
	if err != nil {
		return err
	}
	told.summarize(o.summaryTo(stdout, stderr), pods.Status(), time.Since(began), took, monitor.trouble())
	return nil
}

// handler is what the informer calls, for one change at a time: so it needs no
// lock. It must not change the pods.
func handler(tell func(event)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, initial bool) { tell(newAdded(obj.(*corev1.Pod), initial)) },
		UpdateFunc: func(old, obj any) { tell(newUpdated(old.(*corev1.Pod), obj.(*corev1.Pod))) },
		DeleteFunc: func(obj any) { tell(newDeleted(obj)) }, // a pod, or a tombstone
	}
}
