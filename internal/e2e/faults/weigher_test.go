package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/reflector"
)

// weigherEnv names a kubeconfig file in the environment of a process that weighs informers.
const weigherEnv = "TIDEMARK_E2E_WEIGHER"

// weighed has the memory that an informer of all pods reports, and the growth of the heap.
type weighed struct {
	Informer        string
	Pods            int
	Objects, Engine int64
	Heap            int64
}

// weigh is the main function of a weigher. It weighs one informer after another, and writes a line of
// JSON for each.
func weigh(ctx context.Context, kubeconfig string, out io.Writer) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// With Wire, tidemark also decodes the answers to dynamic and metadata clients.
	config.Wrap(reflector.Wire)
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	generated := func() reflector.Source { return reflector.FromGenerated[*corev1.Pod](typed.CoreV1().Pods(""), pods) }
	quiet := func(informer.Event) {}
	for _, one := range []func() (weighed, error){
		func() (weighed, error) { // the first run allocates what exists once per process
			return weighOne(ctx, "first", informer.New(generated(), informer.Options[*corev1.Pod]{Observe: quiet}))
		},
		func() (weighed, error) {
			return weighOne(ctx, "typed", informer.New(generated(), informer.Options[*corev1.Pod]{Observe: quiet}))
		},
		func() (weighed, error) {
			o := informer.Options[*corev1.Pod]{Observe: quiet, Decoding: reflector.Decoding{Unshared: true}}
			return weighOne(ctx, "typed, unshared", informer.New(generated(), o))
		},
		func() (weighed, error) {
			o := informer.Options[*unstructured.Unstructured]{Observe: quiet}
			return weighOne(ctx, "unstructured", informer.New(reflector.FromDynamic(untyped, pods, ""), o))
		},
		func() (weighed, error) {
			o := informer.Options[*unstructured.Unstructured]{Observe: quiet, Decoding: reflector.Decoding{Unshared: true}}
			return weighOne(ctx, "unstructured, unshared", informer.New(reflector.FromDynamic(untyped, pods, ""), o))
		},
	} {
		w, err := one()
		if err != nil {
			return fmt.Errorf("%s: %w", w.Informer, err)
		}
		if err := json.NewEncoder(out).Encode(w); err != nil {
			return err
		}
	}
	return nil
}

// weighOne runs an informer until it has weighed itself.
func weighOne[T informer.Object](ctx context.Context, name string, i *informer.Informer[T]) (weighed, error) {
	w := weighed{Informer: name}
	runtime.GC() // liveHeap collects again, because a single collection does not empty pools
	before := liveHeap()
	defer runtime.KeepAlive(i)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wait, err := i.Start(ctx)
	if err != nil {
		return w, err
	}
	defer func() { _ = wait() }()
	defer cancel()
	if err := i.WaitSynced(ctx); err != nil {
		return w, fmt.Errorf("%w: %+v", err, i.Status())
	}
	inspector := i.Inspector()
	for inspector.Memory().At.IsZero() {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return w, fmt.Errorf("%w: %+v", ctx.Err(), i.Status())
		}
	}
	m := inspector.Memory()
	runtime.GC()
	w.Pods, w.Objects, w.Engine, w.Heap = i.Indexer().Len(), m.Objects, m.Engine, int64(liveHeap()-before)
	return w, nil
}
