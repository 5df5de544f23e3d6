// Podwatch prints what happens to the pods of a cluster, one line an event: a
// first informer, made to be copied.
//
//	go run ./examples/podwatch --demo --for 10s
//	go run ./examples/podwatch --namespace shop --selector app=web
//
// The cluster is that of --kubeconfig, $KUBECONFIG or ~/.kube/config. With
// --demo, and where there is no kubeconfig, podwatch makes up a cluster: an API
// server in this process, and pods that come and go.
//
// The events go to stdout, in the words that informers have always used:
//
//	2026/01/31 12:00:00 New Pod Added to Store: NAME
//	2026/01/31 12:00:00 NAME Pod Updated to NAME
//	2026/01/31 12:00:00 Pod Deleted from Store: NAME
//
// NAME is the pod's name, without its namespace. The pods that are there
// already are added first. A pod whose labels change is added and deleted as it
// comes under the selector and leaves it. At the end, after the time given with
// --for or at Ctrl-C, a summary follows. Trouble with the server is told on
// stderr.
//
// The exit code is 0, and 1 after an error: a flag or kubeconfig that cannot be
// used, and a server that podwatch could not get the pods from. Once it has
// them it does not give up any more, whatever happens to the server.
//
// The informer is all in this file. Of the others, selected.go narrows a source
// down by labels, connect.go finds the cluster, options.go reads the flags,
// monitor.go and explain.go tell what goes wrong, tally.go counts, and demo.go is
// the made-up cluster; a copy does without it and the lines of connect.go that
// call it.
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

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
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
	notes := log.New(stderr, "podwatch: ", log.LstdFlags|log.Lmsgprefix)
	cluster, err := connect(ctx, o, notes)
	if err != nil {
		return err
	}
	defer cluster.close()
	timed, stop := o.limit(ctx)
	defer stop()
	monitor := newMonitor(cluster, o, notes, stop)
	defer monitor.close()

	// The informer mirrors what this source holds into its store.
	source := reflector.Tweak(reflector.From(cluster.client.CoreV1().Pods(o.namespace)), func(l *metav1.ListOptions) { l.LabelSelector = o.selector })
	pods := informer.New(source, informer.Options[*corev1.Pod]{Name: "pods", Observe: monitor.observe})

	// Its handlers are told of each change. One handler is called for one
	// change at a time, so it needs no lock. It must not change the pods.
	var told tally
	events := log.New(stdout, "", log.LstdFlags)
	_, err = pods.Handle(informer.Funcs[*corev1.Pod]{
		Added: func(pod *corev1.Pod) {
			told.added++
			events.Printf("New Pod Added to Store: %s", pod.Name)
		},
		Updated: func(old, pod *corev1.Pod) {
			told.updated++
			events.Printf("%s Pod Updated to %s", old.Name, pod.Name)
		},
		Deleted: func(pod *corev1.Pod) {
			told.deleted++
			events.Printf("Pod Deleted from Store: %s", pod.Name)
		},
	}, informer.HandlerOptions{Name: "podwatch"})
	if err != nil {
		return err
	}

	// Run does the work, and returns when its context has ended and the
	// handlers have too. A controller would start its workers after WaitSynced.
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- pods.Run(timed) }()
	notSynced := pods.WaitSynced(timed)
	took := time.Since(began)
	if notSynced != nil {
		stop()
	}
	if err := <-ended; err != nil {
		return err
	}
	if notSynced != nil && ctx.Err() == nil { // and it was not Ctrl-C
		return monitor.reason(notSynced)
	}
	told.summarize(stdout, pods.Status(), time.Since(began), took, monitor.trouble())
	return nil
}
