// Podwatch prints the changes of a cluster's pods, one event a line. It is a complete program with an
// informer, meant to be copied.
//
//	go run ./examples/podwatch --demo --for 10s
//	go run ./examples/podwatch --output json --field-selector spec.nodeName=node-1 | jq .name
//
// It uses the cluster of --kubeconfig, $KUBECONFIG, ~/.kube/config, or the pod's service account. With
// --demo, or without such a cluster, it uses a demo cluster: an API server in this process, with pods that
// come and go. Only --namespace limits the namespace; the namespace of the kubeconfig's context has no
// effect.
//
// The events go to stdout, existing pods first. A pod that starts to match the selectors is added, and a pod
// that no longer matches is deleted. With --output json, each line is an object with the fields of the type
// record, and stdout has nothing else. At the end, after the duration of --for or at Ctrl-C, the program
// prints a summary. Problems with the server go to stderr. The exit code is 0, or 1 after an error: an
// invalid flag or kubeconfig, or pods that cannot be listed within ten seconds. After the first list,
// podwatch never gives up.
//
// The informer is in this file. options.go parses the flags, output.go prints the events, and progress.go
// shows the first list. To copy podwatch, leave out package demo, and call watcher.run with your own
// rest.Config.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/factory/debug"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

const (
	// patience is how long podwatch tries to get the first list. After that list, it never gives up.
	patience = 10 * time.Second
	// noticeAfter is how long podwatch waits before it reports why it has no pods yet.
	noticeAfter = 2 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the program, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	w := &watcher{progress: &progress{out: stderr, terminal: demo.IsTerminal(stderr), began: time.Now()}}
	w.notes = log.New(w.progress, "podwatch: ", log.LstdFlags|log.Lmsgprefix)
	f := w.flags()
	err := f.Parse(args)
	if err == nil {
		err = f.Run(ctx, w.notes, demo.Pods(w.notes, demo.Apps(w.namespace)...), func(ctx context.Context, c demo.Cluster) error {
			if c.Demo {
				w.notes.Print("try --selector app=web, --output json, or --debug-address :6060; press Ctrl-C to stop")
			}
			return w.run(ctx, c.Config, stdout, stderr)
		})
	}
	return f.Exit(err, stdout, stderr)
}

// watcher watches the pods.
type watcher struct {
	options
	notes    *log.Logger // writes to progress
	progress *progress

	// Only observe uses the other fields while the informer runs.
	giveUp  context.CancelCauseFunc
	listed  bool      // the first list is complete
	failing time.Time // when requests began to fail; zero if the last one succeeded
	refused error     // an answer to the first list that a retry would not change
}

// run prints the events of pods until ctx ends.
func (w *watcher) run(ctx context.Context, config *rest.Config, stdout, stderr io.Writer) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer w.progress.end()
	w.giveUp = stop

	// The factory makes one informer for each requested kind, and runs them all. For returns the informer of
	// f.Core().V1().Pods() with types. Configure sets options that client-go lacks.
	f := factory.NewSharedInformerFactoryWithOptions(client, w.resync,
		factory.WithNamespace(w.namespace),
		factory.WithTweakListOptions(func(l *metav1.ListOptions) { l.LabelSelector, l.FieldSelector = w.labels, w.fields }))
	if err := factory.Configure(f, informer.Options[*corev1.Pod]{Observe: w.observe}); err != nil {
		return err
	}
	pods, err := factory.For[*corev1.Pod](f)
	if err != nil {
		return err
	}

	// The informer copies the pods into its store, and calls its handlers for each change. It calls a handler
	// for one change at a time, so this handler needs no lock.
	events := tally{}
	show, summary := w.output(stdout, stderr)
	_, err = pods.Handle(informer.HandlerFunc[*corev1.Pod](func(c change) {
		w.progress.end() // otherwise the line would follow the bar
		events.count(c)
		show(c)
	}), informer.HandlerOptions{Name: "podwatch"})
	if err != nil {
		return err
	}
	endDebug, err := demo.Serve(w.debug, "/debug/informers", debug.New(debug.Options{}, f.Informers()), w.notes)
	if err != nil {
		return err
	}
	defer endDebug()

	// StartWithContext returns at once. A controller would start its workers when the stores have synced.
	// Shutdown returns when the informers and the handlers have ended, after the context.
	began := time.Now()
	f.StartWithContext(running)
	notice := time.AfterFunc(noticeAfter, func() { w.explain(pods.Status(), config.Host) })
	defer notice.Stop()
	err = pods.WaitSynced(running) // the error wraps the cause of running's end and the last request's error
	<-running.Done()
	f.Shutdown()
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) { // not after Ctrl-C
		return cmp.Or(w.refused, err)
	}
	events.summarize(summary, pods.Status(), time.Since(began))
	return err
}

// observe gets the informer's events, one at a time, instead of the informer's log.
func (w *watcher) observe(e informer.Event) {
	switch e := e.(type) {
	case reflector.Paged:
		w.progress.came(e.Objects, e.Remaining, e.Bytes)
	case reflector.Listed:
		w.listed = true
		w.progress.end()
	case reflector.WatchStarted:
		if w.listed && !w.failing.IsZero() {
			w.notes.Printf("reconnected after %v", time.Since(w.failing).Round(time.Millisecond))
		}
		w.failing = time.Time{}
	case reflector.Failed:
		w.failed(e)
	case reflector.BackedOff:
		if tried := time.Since(w.progress.began); !w.listed && tried+e.Delay > patience {
			w.giveUp(fmt.Errorf("gave up after %v", tried.Round(time.Millisecond)))
		}
	}
}

// failed handles a failed request. Before the first list, it ends the program if the server has refused the
// request.
func (w *watcher) failed(e reflector.Failed) {
	if w.failing.IsZero() {
		w.failing = time.Now()
	}
	if w.listed {
		w.notes.Printf("%s; retrying, and keeping the known pods", demo.OneLine(e.Err))
	} else if w.refused = w.refusal(e); w.refused != nil {
		w.giveUp(nil)
	}
}

// explain prints why there are no pods yet.
func (w *watcher) explain(s informer.Status, host string) {
	switch {
	case s.Synced || s.Progress.Objects > 0:
	case s.LastError != nil:
		w.notes.Printf("no pods yet: %s; retrying", demo.OneLine(s.LastError))
	default:
		w.notes.Printf("no pods yet: %s does not answer", host)
	}
}

// refusal returns the error if the server would refuse a retry, and nil for other failures.
func (w *watcher) refusal(e reflector.Failed) error {
	verb := "watch" // in a Role
	if e.Operation == reflector.OpList {
		verb = "list"
	}
	switch {
	case apierrors.IsForbidden(e.Err) && w.namespace == "":
		return fmt.Errorf("no permission to %s pods in all namespaces (%w): "+
			"ask for a ClusterRole with the verbs list and watch on pods, or choose a namespace with --namespace", verb, errors.Unwrap(e.Err))
	case apierrors.IsForbidden(e.Err):
		return fmt.Errorf("no permission to %s pods in namespace %s (%w): "+
			"ask for a Role in this namespace with the verbs list and watch on pods", verb, w.namespace, errors.Unwrap(e.Err))
	case apierrors.IsBadRequest(e.Err) && w.fields != "":
		return fmt.Errorf("--field-selector %s: %w", w.fields, e.Err)
	case apierrors.IsUnauthorized(e.Err):
		return e.Err
	}
	return nil
}
