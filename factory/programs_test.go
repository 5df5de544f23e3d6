package factory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
)

// imports are the functions that a program takes from client-go's packages or from this module's.
// The programs differ in nothing else.
type imports struct {
	newFactory  func(kubernetes.Interface, time.Duration) informers.SharedInformerFactory
	newInformer func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer
}

var clientgo = imports{informers.NewSharedInformerFactory, cache.NewSharedIndexInformer}

var tidemark = imports{
	func(c kubernetes.Interface, resync time.Duration) informers.SharedInformerFactory {
		return NewSharedInformerFactory(c, resync)
	},
	tidecache.NewSharedIndexInformer,
}

// A program is written for client-go. It reports its observations with print.
type program func(ctx context.Context, from imports, print func(format string, args ...any)) error

// Programs for client-go print the same with this module's imports.
func TestProgramsSayTheSame(t *testing.T) {
	for name, p := range map[string]struct {
		run  program
		want []string
	}{
		"handlers":           {programHandlers, []string{"add db", "add new", "add web", "delete db", "listed 2", "update web 1"}},
		"run by hand":        {programRunByHand, []string{"add web", "stopped", "store [prod/web]"}},
		"own constructor":    {programOwnConstructor, []string{"by node: web", "indexes [byNode namespace]", "same informer"}},
		"controller":         {programController, []string{"reconcile db: gone", "reconcile db: phase ", "reconcile web: phase ", "reconcile web: phase Running"}},
		"filled by hand":     {programFilledByHand, []string{"found web", "in prod: 1", `pod "none" not found`}},
		"constant versions":  {programConstantVersions, []string{"update 0->1", "update 1->2", "update 2->3"}},
		"handler for typed":  {programTyped, []string{"add web", "delete web"}},
		"synced handlers":    {programSyncedHandlers, []string{"seen when synced: 2", "stopped informers take no handlers"}},
		"transform and tick": {programTransform, []string{"annotations 0", "resync web"}},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, ours := say(t, p.run, clientgo), say(t, p.run, tidemark)
			require.Equal(t, p.want, theirs, "with client-go")
			require.Equal(t, p.want, ours, "with tidemark")
		})
	}
}

// say runs a program in virtual time and returns its output, sorted, because the order of objects
// is not guaranteed.
func say(t *testing.T, run program, from imports) (said []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		require.NoError(t, run(ctx, from, func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, fmt.Sprintf(format, args...))
		}))
		cancel()
		synctest.Wait()
	})
	slices.Sort(said)
	return said
}

// settle waits for other goroutines, as the test of a controller would wait for events.
func settle() { time.Sleep(100 * time.Millisecond) }

func programHandlers(ctx context.Context, from imports, print func(string, ...any)) error {
	client := fake.NewClientset(newPod("prod", "web"), newPod("prod", "db"))
	factory := from.newFactory(client, 0)
	pods := factory.Core().V1().Pods()
	_, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { print("add %s", obj.(*corev1.Pod).Name) },
		UpdateFunc: func(_, obj any) {
			print("update %s %s", obj.(*corev1.Pod).Name, obj.(*corev1.Pod).Labels["step"])
		},
		DeleteFunc: func(obj any) { print("delete %s", obj.(*corev1.Pod).Name) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for kind, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			return fmt.Errorf("%v is not synced", kind)
		}
	}
	settle()

	web := newPod("prod", "web")
	web.Labels = map[string]string{"step": "1"}
	if _, err := client.CoreV1().Pods("prod").Update(ctx, web, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := client.CoreV1().Pods("prod").Delete(ctx, "db", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if _, err := client.CoreV1().Pods("prod").Create(ctx, newPod("prod", "new"), metav1.CreateOptions{}); err != nil {
		return err
	}
	settle()
	listed, err := pods.Lister().List(labels.Everything())
	print("listed %d", len(listed))
	return err
}

func programRunByHand(ctx context.Context, from imports, print func(string, ...any)) error {
	informer := from.newFactory(fake.NewClientset(newPod("prod", "web")), 0).Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { print("add %s", obj.(*corev1.Pod).Name) },
	}); err != nil {
		return err
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		informer.Run(stop)
	}()
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("not synced")
	}
	settle()
	close(stop)
	<-ended
	if informer.IsStopped() {
		print("stopped")
	}
	print("store %v", informer.GetStore().ListKeys())
	return nil
}

func programOwnConstructor(ctx context.Context, from imports, print func(string, ...any)) error {
	web, other := newPod("prod", "web"), newPod("test", "web")
	web.Spec.NodeName, other.Spec.NodeName = "n1", "n1"
	client := fake.NewClientset(web, other)
	factory := from.newFactory(client, 0)
	constructor := func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return from.newInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return c.CoreV1().Pods("prod").List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return c.CoreV1().Pods("prod").Watch(ctx, o)
			},
		}, c), &corev1.Pod{}, resync, cache.Indexers{
			cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
			"byNode":             func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
		})
	}
	mine := factory.InformerFor(&corev1.Pod{}, constructor)
	if mine == factory.InformerFor(&corev1.Pod{}, constructor) {
		print("same informer")
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	found, err := factory.Core().V1().Pods().Informer().GetIndexer().ByIndex("byNode", "n1")
	for _, obj := range found {
		print("by node: %s", obj.(*corev1.Pod).Name)
	}
	var names []string
	for name := range mine.GetIndexer().GetIndexers() {
		names = append(names, name)
	}
	slices.Sort(names)
	print("indexes %v", names)
	return err
}

func programFilledByHand(_ context.Context, from imports, print func(string, ...any)) error {
	pods := from.newFactory(nil, 0).Core().V1().Pods()
	for _, pod := range []*corev1.Pod{newPod("prod", "web"), newPod("test", "web")} {
		if err := pods.Informer().GetIndexer().Add(pod); err != nil {
			return err
		}
	}
	web, err := pods.Lister().Pods("prod").Get("web")
	if err != nil {
		return err
	}
	print("found %s", web.Name)
	listed, err := pods.Lister().Pods("prod").List(labels.Everything())
	if err != nil {
		return err
	}
	print("in prod: %d", len(listed))
	_, err = pods.Lister().Pods("prod").Get("none")
	print("%v", err)
	return nil
}

// The fake clientset leaves every resourceVersion empty.
func programConstantVersions(ctx context.Context, from imports, print func(string, ...any)) error {
	web := newPod("prod", "web")
	web.Labels = map[string]string{"step": "0"}
	client := fake.NewClientset(web)
	factory := from.newFactory(client, 0)
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, obj any) {
		print("update %s->%s", old.(*corev1.Pod).Labels["step"], obj.(*corev1.Pod).Labels["step"])
	}}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	settle()
	for step := range 3 {
		web = web.DeepCopy()
		web.Labels["step"] = strconv.Itoa(step + 1)
		if _, err := client.CoreV1().Pods("prod").Update(ctx, web, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	settle()
	return nil
}

func programTyped(ctx context.Context, from imports, print func(string, ...any)) error {
	client := fake.NewClientset(newPod("prod", "web"))
	factory := from.newFactory(client, 0)
	generic, err := factory.ForResource(podResource)
	if err != nil {
		return err
	}
	pods := cache.NewTypedSharedIndexInformer[*corev1.Pod](generic.Informer())
	if _, err := pods.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
		AddFunc:    func(pod *corev1.Pod) { print("add %s", pod.Name) },
		DeleteFunc: func(pod cache.DeletedObject[*corev1.Pod]) { print("delete %s", pod.GetName()) },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	settle()
	if err := client.CoreV1().Pods("prod").Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		return err
	}
	settle()
	return nil
}

func programSyncedHandlers(ctx context.Context, from imports, print func(string, ...any)) error {
	factory := from.newFactory(fake.NewClientset(newPod("prod", "web"), newPod("prod", "db")), 0)
	pods := factory.Core().V1().Pods().Informer()
	run, stop := context.WithCancel(ctx)
	defer stop()
	factory.Start(run.Done())
	factory.WaitForCacheSync(ctx.Done())
	seen := 0
	registration, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { seen++ }})
	if err != nil {
		return err
	}
	if !cache.WaitFor(ctx, "the handler", registration.HasSyncedChecker()) {
		return fmt.Errorf("the handler is not synced")
	}
	print("seen when synced: %d", seen)
	if err := pods.RemoveEventHandler(registration); err != nil {
		return err
	}
	stop()
	factory.Shutdown()
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err != nil {
		print("stopped informers take no handlers")
	}
	return nil
}

func programTransform(ctx context.Context, from imports, print func(string, ...any)) error {
	web := newPod("prod", "web")
	web.Annotations = map[string]string{"big": "and unread"}
	factory := from.newFactory(fake.NewClientset(web), time.Minute)
	pods := factory.Core().V1().Pods()
	if err := pods.Informer().SetTransform(func(obj any) (any, error) {
		obj.(*corev1.Pod).Annotations = nil
		return obj, nil
	}); err != nil {
		return err
	}
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, obj any) {
		if old == obj {
			print("resync %s", obj.(*corev1.Pod).Name)
		}
	}}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	found, err := pods.Lister().Pods("prod").Get("web")
	if err != nil {
		return err
	}
	print("annotations %d", len(found.Annotations))
	time.Sleep(90 * time.Second)
	return nil
}
