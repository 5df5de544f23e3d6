package factory_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
	"github.com/tidemark-k8s/tidemark/reflector"
)

func examplePod(namespace, name string, l labels.Set) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: l}}
}

// A program for client-go's factory needs only another import.
func Example() {
	client := fake.NewClientset(examplePod("prod", "web", nil)) // in a real program, kubernetes.NewForConfig
	f := factory.NewSharedInformerFactory(client, 0)
	pods := f.Core().V1().Pods()
	registration, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Println("added", obj.(*corev1.Pod).Name) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	cache.WaitFor(ctx, "", registration.HasSyncedChecker())
	web, err := pods.Lister().Pods("prod").Get("web")
	fmt.Println("found", web.Name, err)
	cancel()
	f.Shutdown()
	// Output:
	// added web
	// found web <nil>
}

// For returns the same informer with types.
func ExampleFor() {
	client := fake.NewClientset(examplePod("prod", "web", labels.Set{"app": "shop"}), examplePod("prod", "db", nil))
	f := factory.NewSharedInformerFactory(client, 0)
	pods, err := factory.For[*corev1.Pod](f)
	if err != nil {
		fmt.Println(err)
		return
	}
	greeter, err := pods.Handle(informer.Funcs[*corev1.Pod]{
		Added: func(pod *corev1.Pod) { fmt.Println("added", pod.Name) },
	}, informer.HandlerOptions{Name: "greeter"})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	<-greeter.Synced() // the informer is synced, too
	fmt.Println("all:", pods.Indexer().Len())
	shop, err := pods.Lister().Namespace("prod").List(labels.SelectorFromSet(labels.Set{"app": "shop"}))
	fmt.Println("shop:", shop[0].Name, err)
	cancel()
	f.Shutdown()
	// Unordered output:
	// added db
	// added web
	// all: 2
	// shop: web <nil>
}

// A lease keeps an informer for a while: here of the pods of two namespaces, each watched with
// its own requests.
func ExampleAcquire() {
	client := fake.NewClientset(examplePod("a", "one", nil), examplePod("b", "two", nil), examplePod("c", "three", nil))
	f := factory.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f.StartWithContext(ctx)

	lease, err := factory.Acquire[*corev1.Pod](f, factory.Scope{Namespaces: []string{"a", "b"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	pods := lease.Informer()
	fmt.Println(pods.WaitSynced(ctx), pods.Indexer().Len())
	lease.Release()
	<-pods.Done()
	fmt.Println("stopped:", pods.Status().Stopped)

	_, err = factory.Acquire[*corev1.Pod](f, factory.Scope{Labels: "app in"})
	fmt.Println(err != nil)
	cancel()
	f.Shutdown()
	// Output:
	// <nil> 2
	// stopped: true
	// true
}

// Gadget is the Go type of a custom resource.
type Gadget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

func (g *Gadget) DeepCopyObject() runtime.Object {
	twin := &Gadget{TypeMeta: g.TypeMeta}
	g.DeepCopyInto(&twin.ObjectMeta)
	return twin
}

// GadgetList is a list of Gadgets.
type GadgetList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Gadget
}

func (l *GadgetList) DeepCopyObject() runtime.Object {
	twin := &GadgetList{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		twin.Items = append(twin.Items, *l.Items[i].DeepCopyObject().(*Gadget))
	}
	return twin
}

// Register makes the Go type of a custom resource known to a factory. In a real program,
// reflector.From makes its source of a typed client.
func ExampleRegister() {
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	known := runtime.NewScheme()
	known.AddKnownTypes(version, &Gadget{}, &GadgetList{})
	server := informertest.New(informertest.Options{Scheme: known})
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	kind := informertest.Kind{GVR: version.WithResource("gadgets"), GVK: version.WithKind("Gadget"), Namespaced: true}
	if err := server.Register(kind); err != nil {
		fmt.Println(err)
	}
	if err := server.Create(ctx, &Gadget{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "lamp"}}); err != nil {
		fmt.Println(err)
	}

	f := factory.NewSharedInformerFactory(fake.NewClientset(), 0)
	err := factory.Register[*Gadget](f, factory.Resource{
		GVR:        kind.GVR,
		Namespaced: true,
		Source:     func(namespace string) (reflector.Source, error) { return server.Source(kind.GVR, namespace), nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	gadgets, err := factory.For[*Gadget](f)
	if err != nil {
		fmt.Println(err)
		return
	}
	f.StartWithContext(ctx)
	fmt.Println(gadgets.WaitSynced(ctx))
	lamp, err := gadgets.Lister().Namespace("prod").Get("lamp")
	fmt.Println(lamp.Name, err)
	cancel()
	f.Shutdown()
	// Output:
	// <nil>
	// lamp <nil>
}

// The dynamic factory serves any resource, without a Go type for it.
func ExampleDynamicFactory() {
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, examplePod("prod", "web", nil))
	f := factory.NewDynamicSharedInformerFactory(client, 0)
	pods := f.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
	ctx, cancel := context.WithCancel(context.Background())
	f.StartWithContext(ctx)
	f.WaitForCacheSync(ctx.Done())
	web, err := pods.Lister().ByNamespace("prod").Get("web")
	fmt.Printf("%T %v\n", web, err)
	cancel()
	f.Shutdown()
	// Output: *unstructured.Unstructured <nil>
}
