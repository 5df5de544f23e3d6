package main

import (
	"context"
	"fmt"
	"iter"
	"log"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
)

// tour has the options of the tour.
type tour struct {
	selector labels.Selector
	mark     indexer.Key // the pod to annotate; none if empty
	out      *log.Logger
}

// byNode is an index of pods by the name of their node.
var byNode = indexer.Index[*corev1.Pod]{Name: "node", Append: func(values []string, pod *corev1.Pod) []string {
	if pod.Spec.NodeName == "" {
		return values // not scheduled yet
	}
	return append(values, pod.Spec.NodeName)
}}

// run shows the tour, and prints changes until ctx ends. It returns an error if the informer does not sync in
// time, or if the pod cannot be annotated.
func (t tour) run(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	// The factory makes the informer, as client-go's f.Core().V1().Pods() would. Its objects are *corev1.Pod,
	// so the program needs no type assertions.
	f := factory.NewSharedInformerFactory(client, 0)
	pods, err := factory.For[*corev1.Pod](f)
	if err != nil {
		return err
	}
	if err := pods.AddIndexes(byNode, refs.ByOwner[*corev1.Pod]()); err != nil {
		return err
	}
	// Latest merges the changes of a pod while the handler is busy. The handler then gets only the result.
	printer, err := pods.Handle(informer.Funcs[*corev1.Pod]{
		Added:   func(pod *corev1.Pod) { t.out.Printf("+ %s", describe(pod)) },
		Updated: t.updated,
		Deleted: func(pod *corev1.Pod) { t.out.Printf("- %s", describe(pod)) },
	}, informer.HandlerOptions{Name: "typed", Delivery: informer.Latest})
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	defer f.Shutdown() // waits for the informer, which stop ends
	defer stop()
	f.StartWithContext(ctx)
	if err := pods.WaitSynced(ctx); err != nil {
		return err
	}
	select {
	case <-printer.Synced(): // the handler has got all pods of the initial state
	case <-ctx.Done():
	}
	t.show(pods)
	if err := t.annotate(ctx, client, pods); err != nil {
		return err
	}
	<-ctx.Done()
	st := pods.Status()
	t.out.Printf("%d pods at version %s, %d relists, %d errors", st.Objects, st.Version, st.Relists, st.Errors)
	return nil
}

func (t tour) updated(old, pod *corev1.Pod) {
	if was, is := describe(old), describe(pod); was != is {
		t.out.Printf("~ %s, was %s", is, was)
	}
}

// show reads the store in five ways: all objects, by index, by label selector, by a query with several
// conditions, and by owner.
func (t tour) show(pods *informer.Informer[*corev1.Pod]) {
	store := pods.Indexer()
	t.out.Printf("there are %d pods: %s", store.Len(), names(store.All()))

	nodes, _ := store.Values(byNode.Name) // cannot fail: the index exists
	for _, node := range slices.Sorted(slices.Values(nodes)) {
		t.out.Printf("node %s runs %s", node, names(store.By(byNode.Name, node)))
	}

	matching, err := pods.Lister().List(t.selector)
	t.out.Printf("selector %q matches %s, error: %v", t.selector, names(slices.Values(matching)), err)

	first := indexer.Query{Labels: t.selector, Fields: map[string]string{byNode.Name: "node-0"}}
	found, err := store.Find(first, indexer.Query{Namespace: "kube-system"}) // the objects of either query, at one moment
	t.out.Printf("%v finds %s, error: %v", first, names(found.All()), err)
	for _, owner := range owners(store) {
		owned, _ := store.Find(refs.OwnedBy(owner)) // cannot fail: the index exists
		t.out.Printf("%s owns %s", owner.GetName(), names(owned.All()))
	}
}

// owners returns the controllers of pods, sorted by name.
func owners(pods *indexer.Indexer[*corev1.Pod]) (all []metav1.Object) {
	for pod := range pods.All() {
		if c := metav1.GetControllerOf(pod); c != nil && !slices.ContainsFunc(all, func(o metav1.Object) bool { return o.GetUID() == c.UID }) {
			all = append(all, &metav1.ObjectMeta{Name: c.Name, UID: c.UID})
		}
	}
	slices.SortFunc(all, func(a, b metav1.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

// annotate writes to a pod, and reads the result from the store. The store is slightly behind the server, so
// WaitFor waits for the write.
func (t tour) annotate(ctx context.Context, client kubernetes.Interface, pods *informer.Informer[*corev1.Pod]) error {
	if t.mark == (indexer.Key{}) {
		return nil
	}
	patch := []byte(`{"metadata":{"annotations":{"example.com/seen-by":"typed"}}}`)
	written, err := client.CoreV1().Pods(t.mark.Namespace).Patch(ctx, t.mark.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "typed"})
	if err != nil {
		return fmt.Errorf("pod %s cannot be annotated: %w", t.mark, err)
	}
	if err := pods.WaitFor(ctx, written); err != nil {
		return err
	}
	pod, ok := pods.Indexer().Get(t.mark)
	if !ok {
		t.out.Printf("marked %s, which has been deleted", t.mark)
		return nil
	}
	t.out.Printf("marked %s, which the store shows: seen by %s", t.mark, pod.Annotations["example.com/seen-by"])
	return nil
}

// names returns the sorted names of pods. A store has no order.
func names(pods iter.Seq[*corev1.Pod]) string {
	var names []string
	for pod := range pods {
		names = append(names, pod.Namespace+"/"+pod.Name)
	}
	slices.Sort(names)
	return "[" + strings.Join(names, " ") + "]"
}

func describe(pod *corev1.Pod) string {
	text := pod.Namespace + "/" + pod.Name + " " + strings.ToLower(string(pod.Status.Phase))
	if pod.Spec.NodeName != "" {
		text += " on " + pod.Spec.NodeName
	}
	return text
}
