package main

import (
	"context"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
)

// watchedLabel marks the namespaces to watch.
const watchedLabel = "example.com/watched"

// watcher has the options of the program.
type watcher struct {
	given  []string // namespaces
	labels string   // a selector of pods; empty for all
	out    *log.Logger
}

// run watches until ctx ends. It returns an error if a scope is invalid, or the informers did not
// sync in time.
func (w watcher) run(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	f := factory.NewSharedInformerFactory(client, 0)
	defer f.Shutdown() // waits for the informers, which stop ends
	defer stop()
	f.StartWithContext(ctx) // before the first lease, so that each lease starts its informer

	// One informer serves a list of namespaces, with one store, and a watch for each namespace.
	if len(w.given) > 0 {
		pods, err := factory.Acquire[*corev1.Pod](f, factory.Scope{Namespaces: w.given, Labels: w.labels})
		if err != nil {
			return err
		}
		defer pods.Release()
		if err := w.printChanges(pods.Informer()); err != nil {
			return err
		}
		if err := pods.Informer().WaitSynced(ctx); err != nil {
			return err
		}
		w.out.Printf("namespaces %q have %d pods", w.given, pods.Informer().Indexer().Len())
	}

	// While the program runs, namespaces may start or stop matching this selector.
	namespaces, err := factory.Acquire[*corev1.Namespace](f, factory.Scope{Labels: watchedLabel})
	if err != nil {
		return err
	}
	defer namespaces.Release()
	labeled := scopes{watcher: w, factory: f, release: make(map[string]func())}
	_, err = namespaces.Informer().Handle(informer.Funcs[*corev1.Namespace]{
		Added:   labeled.begin,
		Deleted: labeled.end,
	}, informer.HandlerOptions{Name: "scopes"})
	if err != nil {
		return err
	}
	if err := namespaces.Informer().WaitSynced(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// printChanges prints the changes of pods.
func (w watcher) printChanges(pods *informer.Informer[*corev1.Pod]) error {
	_, err := pods.Handle(w.printer(), informer.HandlerOptions{Name: "printer"})
	return err
}

func (w watcher) printer() informer.Handler[*corev1.Pod] {
	return informer.Funcs[*corev1.Pod]{
		Added:   func(pod *corev1.Pod) { w.out.Printf("+ %s/%s", pod.Namespace, pod.Name) },
		Deleted: func(last *corev1.Pod) { w.out.Printf("- %s/%s", last.Namespace, last.Name) },
	}
}

// scopes holds the labeled namespaces, each with its own informer. Only the handler of namespaces uses it,
// for one change at a time, so it needs no lock.
type scopes struct {
	watcher
	factory *factory.Factory
	release map[string]func() // by namespace
}

func (s scopes) begin(namespace *corev1.Namespace) {
	// The scope and the selector are valid, so an error means that the factory has been shut down.
	lease, err := factory.Acquire[*corev1.Pod](s.factory, factory.Scope{Namespaces: []string{namespace.Name}, Labels: s.labels})
	if err != nil {
		s.out.Printf("namespace %s is not watched: %v", namespace.Name, err)
		return
	}
	// The handler ends with the lease.
	if _, err := lease.Informer().Handle(s.printer(), informer.HandlerOptions{Name: "printer of " + namespace.Name}); err != nil {
		lease.Release()
		s.out.Printf("namespace %s is not watched: %v", namespace.Name, err)
		return
	}
	s.release[namespace.Name] = lease.Release
}

func (s scopes) end(namespace *corev1.Namespace) {
	if release, ok := s.release[namespace.Name]; ok {
		release()
		delete(s.release, namespace.Name)
	}
}
