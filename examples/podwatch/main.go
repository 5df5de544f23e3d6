// Podwatch prints the changes of a cluster's pods, one event a line. It is a complete program with an
// informer, meant to be copied.
//
//	go run ./examples/podwatch --demo --for 10s
//	go run ./examples/podwatch --namespace shop --selector app=web
//	go run ./examples/podwatch --output json --field-selector spec.nodeName=node-1 | jq .name
//
// # Cluster
//
// Podwatch uses the first of these clusters:
//
//  1. with --demo, a demo cluster: an API server in this process, with pods that come and go;
//  2. the cluster of the kubeconfig given with --kubeconfig;
//  3. the cluster of the kubeconfig, or of several, in $KUBECONFIG;
//  4. the cluster of ~/.kube/config;
//  5. in a pod, where $KUBERNETES_SERVICE_HOST is set, the cluster of its service account;
//  6. the demo cluster.
//
// It is an error if a given kubeconfig does not exist. --context chooses another context of the
// kubeconfig than the current one. Only --namespace chooses a namespace; the namespace of the context
// has no effect.
//
// # Output
//
// The events go to stdout. Existing pods are added first. When a changed pod begins or ceases to match
// the selectors, it is added or deleted. With --resync, all pods are regularly updated without a
// change. --output chooses the format of a line:
//
// text, the default, uses the words of the usual informer tutorials. NAME is the pod's name, without
// its namespace:
//
//	2026/01/31 12:00:00 New Pod Added to Store: NAME
//	2026/01/31 12:00:00 NAME Pod Updated to NAME
//	2026/01/31 12:00:00 Pod Deleted from Store: NAME
//
// wide prints columns: the time, the event (added, updated or deleted), the namespace and name, the
// phase and the node of the pod, and the changes. The changes are some of labels, phase and ready, or
// one of
//
//	resync   none: this is a resync
//	other    other changes
//	initial  the pod existed already
//	lost     the deletion was not observed, but found by a list
//
// json prints one object a line and nothing else. Each object has all of these fields:
//
//	time             when the handler was called, in RFC 3339
//	event            "added", "updated" or "deleted"
//	namespace, name  of the pod
//	uid              of the pod
//	resourceVersion  of the pod's current state, or of its last one
//	phase            such as "Running"
//	ready            whether the pod is ready
//	node             the pod's node; "" if it has none yet
//	labels           of the pod, an object
//	changed          an array of "labels", "phase" and "ready"; or ["resync"] or
//	                 ["other"]; [] unless the event is "updated"
//	initial          whether the pod existed already
//	lost             whether the deletion was not observed, but found by a list;
//	                 the other fields are then the last known state
//
// With --record, the server's responses are also written to a file, one JSON object a line:
// informertest.Replay plays them back to an informer, in a test.
//
// With --debug-address, /debug/informers at that address shows the informer.
//
// At the end, after the time given with --for or at Ctrl-C, a summary follows on stdout, or with json
// on stderr.
//
// During the first list, stderr shows the progress: the number of pods received, and the number of all
// pods if the server sends it. On a terminal this is a bar, which disappears at the end; otherwise it
// is a line each second. Problems with the server go to stderr, too.
//
// The exit code is 0, or 1 after an error: a flag or kubeconfig that cannot be used, or pods that
// could not be listed. After the first list podwatch does not give up, whatever happens to the server.
//
// # Files
//
// The informer is in this file. options.go parses the flags; connect.go and config.go find the
// cluster; event.go defines events, and the output files print them; progress.go, bar.go and screen.go
// show the progress of the first list; monitor.go and explain.go report problems; tally.go counts
// events; record.go implements --record, and debug.go --debug-address; demo.go is the demo cluster. If
// you copy podwatch, leave out demo.go and the lines of connect.go that call it.
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
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
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

	// The factory makes one informer of each requested kind, and runs them all. Configure sets
	// options that client-go's factory does not have.
	f := factory.NewSharedInformerFactoryWithOptions(cluster.client, o.resync,
		factory.WithNamespace(o.namespace),
		factory.WithTweakListOptions(func(l *metav1.ListOptions) { l.LabelSelector, l.FieldSelector = o.labels, o.fields }))
	if err := factory.Configure(f, informer.Options[*corev1.Pod]{Observe: monitor.observe}); err != nil {
		return err
	}

	// The informer mirrors the pods into its store, and calls its handlers for each change.
	var events tally
	show := o.output(stdout)
	_, err = f.Core().V1().Pods().Informer().AddEventHandler(handler(func(e event) {
		progress.end() // otherwise the line would follow the bar
		events.count(e)
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

	// Start returns at once. A controller would start its workers when the caches are synced.
	// Shutdown returns when the context, the informers and the handlers have ended.
	began := time.Now()
	f.StartWithContext(timed)
	synced := f.WaitForCacheSyncWithContext(timed)
	took := time.Since(began)
	if synced.Err != nil {
		stop()
	}
	f.Shutdown()
	if synced.Err != nil && ctx.Err() == nil { // not after Ctrl-C
		return monitor.reason()
	}
	pods, err := factory.For[*corev1.Pod](f) // the same informer, with types and a Status
	if err != nil {
		return err
	}
	events.summarize(o.summaryTo(stdout, stderr), pods.Status(), time.Since(began), took, monitor.trouble())
	return nil
}

// handler returns the informer's handler. The informer calls it for one change at a time, so it needs
// no lock. It must not change the pods.
func handler(show func(event)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, initial bool) { show(newAdded(obj.(*corev1.Pod), initial)) },
		UpdateFunc: func(old, obj any) { show(newUpdated(old.(*corev1.Pod), obj.(*corev1.Pod))) },
		DeleteFunc: func(obj any) { show(newDeleted(obj)) }, // a pod, or a tombstone
	}
}
