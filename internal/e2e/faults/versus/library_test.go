package versus

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tidemark-k8s/tidemark/controllerruntime"
	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
	"github.com/tidemark-k8s/tidemark/reflector"
	"github.com/tidemark-k8s/tidemark/shard"
)

// library is client-go or tidemark, as users use it.
type library interface {
	// configure changes the configuration of all clients.
	configure(*rest.Config)
	typed(c kubernetes.Interface, namespace string) informers.SharedInformerFactory
	dynamic(dynamic.Interface) dynamicinformer.DynamicSharedInformerFactory
	// databases returns an informer of the custom resource, with a Go type.
	databases(kubernetes.Interface, *databaseClient) (cache.SharedIndexInformer, error)
}

func (t task) library() library {
	if t.Tidemark {
		return tidemark{t}
	}
	return clientGo{t}
}

// subject says which objects the informers of a measured process read.
type subject string

const (
	allPods          subject = ""
	podsByNamespace  subject = "pods by namespace" // one informer per namespace
	dynamicPods      subject = "pods, dynamic"
	dynamicDatabases subject = "databases, dynamic"
	typedDatabases   subject = "databases, typed"
	allKinds         subject = "kinds"
	managerPods      subject = "pods of a manager" // a controller-runtime manager that strips managedFields
	// controllerCaches are the caches of a program like kube-controller-manager, which strips
	// managedFields: indexes and many handlers for pods, and two handlers for each other kind.
	controllerCaches subject = "controller caches"
)

// fields says what happens to managedFields.
type fields string

const (
	kept     fields = ""
	stripped fields = "stripped" // by a transform
	dropped  fields = "dropped"  // by tidemark's decoder; client-go keeps them
)

// storage says how tidemark stores objects. client-go stores them decoded.
type storage string

const (
	decoded storage = ""
	packed  storage = "packed" // with some decoded objects, within packedBudget
)

const packedBudget = 8 << 20

func (t task) storage() (s informer.Storage) {
	if t.Storage == packed {
		s.Decoded = informer.NewBudget(packedBudget)
	}
	return s
}

// strip is the transform of kube-controller-manager.
func strip(obj any) (any, error) {
	if o, ok := obj.(metav1.Object); ok && len(o.GetManagedFields()) > 0 {
		o.SetManagedFields(nil)
	}
	return obj, nil
}

// podHandlers is the number of controllers in kube-controller-manager that watch pods.
const podHandlers = 12

// informers makes the informers of a task.
func (t task) informers(config *rest.Config) ([]*watched, error) {
	lib := t.library()
	lib.configure(config)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	var one cache.SharedIndexInformer
	switch t.Informers {
	case allPods:
		one = lib.typed(client, metav1.NamespaceAll).Core().V1().Pods().Informer()
	case podsByNamespace:
		return splitPods(lib, client), nil
	case managerPods:
		return t.managed(config)
	case allKinds:
		return kinds(lib, client)
	case controllerCaches:
		return caches(lib, client)
	case dynamicPods, dynamicDatabases:
		untyped, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		resource := cluster.Databases
		if t.Informers == dynamicPods {
			resource = podResource
		}
		one = lib.dynamic(untyped).ForResource(resource).Informer()
	case typedDatabases:
		own, err := newDatabaseClient(config)
		if err != nil {
			return nil, err
		}
		if one, err = lib.databases(client, own); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("unknown informers: %s", t.Informers)
	}
	return []*watched{{informer: one, handlers: t.Handlers}}, nil
}

// managed makes the cache of a controller-runtime manager like users do.
func (t task) managed(config *rest.Config) ([]*watched, error) {
	o := ctrl.Options{
		Cache:   ctrlcache.Options{DefaultTransform: ctrlcache.TransformStripManagedFields()},
		Metrics: server.Options{BindAddress: "0"}, // disabled
	}
	newManager := ctrl.NewManager
	if t.Tidemark {
		newManager = func(config *rest.Config, o ctrl.Options) (ctrl.Manager, error) {
			return controllerruntime.NewManager(config, o)
		}
	}
	m, err := newManager(config, o)
	if err != nil {
		return nil, err
	}
	pods, err := m.GetCache().GetInformer(context.Background(), &corev1.Pod{}) // does not wait before the manager starts
	if err != nil {
		return nil, err
	}
	shared, ok := pods.(cache.SharedIndexInformer)
	if !ok {
		return nil, fmt.Errorf("the manager's informer of pods is a %T", pods)
	}
	return []*watched{{informer: shared, handlers: t.Handlers, run: func(ctx context.Context) {
		if err := m.Start(ctx); err != nil {
			panic(err) // makes the benchmark fail
		}
	}}}, nil
}

// handleKeys adds a handler of keys to tidemark's informer of pods.
func handleKeys(pods cache.SharedIndexInformer, h func(indexer.Key)) error {
	i, ok := informer.As[*corev1.Pod](pods)
	if !ok {
		return fmt.Errorf("a %T is not an informer of pods", pods)
	}
	_, err := i.HandleKeys(h, informer.HandlerOptions{})
	return err
}

func splitPods(lib library, client kubernetes.Interface) (all []*watched) {
	for i := range cluster.Namespaces {
		all = append(all, &watched{informer: lib.typed(client, cluster.Namespace(i)).Core().V1().Pods().Informer(), handlers: 1})
	}
	return all
}

func kinds(lib library, client kubernetes.Interface) (all []*watched, err error) {
	f := lib.typed(client, metav1.NamespaceAll)
	for _, resource := range cluster.KindResources() {
		one, err := f.ForResource(resource)
		if err != nil {
			return nil, err
		}
		all = append(all, &watched{informer: one.Informer(), handlers: 1})
	}
	return all, nil
}

func caches(lib library, client kubernetes.Interface) ([]*watched, error) {
	all, err := kinds(lib, client)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		w.handlers = 2
	}
	pods := all[0] // the first kind is pods
	pods.handlers = podHandlers
	return all, pods.informer.AddIndexers(cache.Indexers{
		"spec.nodeName": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
		"podControllerUID": func(obj any) ([]string, error) {
			if owner := metav1.GetControllerOf(obj.(*corev1.Pod)); owner != nil {
				return []string{string(owner.UID)}, nil
			}
			return nil, nil
		},
		"pod-pvc-index": func(obj any) (claims []string, err error) {
			pod := obj.(*corev1.Pod)
			for _, v := range pod.Spec.Volumes {
				if v.PersistentVolumeClaim != nil {
					claims = append(claims, pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
				}
			}
			return claims, nil
		},
	})
}

type tidemark struct{ task }

func (l tidemark) configure(config *rest.Config) {
	if l.Wired {
		config.Wrap(reflector.Wire)
	}
}

func (l tidemark) typed(client kubernetes.Interface, namespace string) informers.SharedInformerFactory {
	options := []factory.Option{factory.WithNamespace(namespace), factory.WithDecoding(l.decoding()), factory.WithStorage(l.storage())}
	if l.Fields == stripped {
		options = append(options, factory.WithTransform(strip))
	}
	if share := l.share(); share != nil {
		options = append(options, factory.WithShard(share, &corev1.Pod{}))
	}
	return factory.NewSharedInformerFactoryWithOptions(client, 0, options...)
}

func (l tidemark) decoding() (d reflector.Decoding) {
	if l.Fields == dropped {
		d.Drop = []string{"metadata.managedFields"}
	}
	return d
}

func (l tidemark) dynamic(client dynamic.Interface) dynamicinformer.DynamicSharedInformerFactory {
	f := factory.NewDynamicSharedInformerFactory(client, 0)
	f.SetDecoding(l.decoding())
	_ = f.Configure(podResource, informer.Options[*unstructured.Unstructured]{Shard: l.share()}) // cannot fail before there is an informer
	return f
}

// share returns the share in a task, or nil for everything.
func (t task) share() shard.Assignment {
	if t.Shard == "" {
		return nil
	}
	return shard.Static(shareOf(t.Shard))
}

// shareOf returns a share by uid, such as 0/4.
func shareOf(nth string) shard.Set {
	index, total, err := shard.ParseNth(nth)
	share, wrong := shard.Nth(shard.ByUID, index, total)
	if err := errors.Join(err, wrong); err != nil {
		panic(err) // the benchmarks have only valid shares
	}
	return share
}

func (l tidemark) databases(client kubernetes.Interface, own *databaseClient) (cache.SharedIndexInformer, error) {
	f := factory.NewSharedInformerFactory(client, 0)
	err := factory.Register[*cluster.Database](f, factory.Resource{
		GVR: cluster.Databases, Namespaced: true, Source: func(namespace string) (reflector.Source, error) {
			return reflector.FromCustomResource[*cluster.Database](own.in(namespace), cluster.Databases), nil
		},
	})
	if err != nil {
		return nil, err
	}
	one, err := f.ForResource(cluster.Databases)
	if err != nil {
		return nil, err
	}
	return one.Informer(), nil
}

type clientGo struct{ task }

func (l clientGo) configure(*rest.Config) {}

func (l clientGo) typed(client kubernetes.Interface, namespace string) informers.SharedInformerFactory {
	options := []informers.SharedInformerOption{informers.WithNamespace(namespace)}
	if l.Fields == stripped {
		options = append(options, informers.WithTransform(strip))
	}
	return informers.NewSharedInformerFactoryWithOptions(client, 0, options...)
}

func (l clientGo) dynamic(client dynamic.Interface) dynamicinformer.DynamicSharedInformerFactory {
	return dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
}

// databases returns the informer that informer-gen would generate.
func (l clientGo) databases(_ kubernetes.Interface, client *databaseClient) (cache.SharedIndexInformer, error) {
	all := client.in(metav1.NamespaceAll)
	return cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return all.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return all.Watch(ctx, o) },
		}, all),
		&cluster.Database{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}},
	), nil
}

// databaseClient is the client of a custom resource that client-gen would generate.
type databaseClient struct {
	rest       rest.Interface
	parameters runtime.ParameterCodec
}

func newDatabaseClient(config *rest.Config) (*databaseClient, error) {
	known := runtime.NewScheme()
	version := cluster.Databases.GroupVersion()
	known.AddKnownTypes(version, &cluster.Database{}, &cluster.DatabaseList{})
	metav1.AddToGroupVersion(known, version)
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &version
	config.NegotiatedSerializer = serializer.NewCodecFactory(known).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &databaseClient{client, runtime.NewParameterCodec(known)}, nil
}

// in returns the client for a namespace, or for all namespaces if it is "".
func (c *databaseClient) in(namespace string) *gentype.ClientWithList[*cluster.Database, *cluster.DatabaseList] {
	return gentype.NewClientWithList(cluster.Databases.Resource, c.rest, c.parameters, namespace,
		func() *cluster.Database { return &cluster.Database{} }, func() *cluster.DatabaseList { return &cluster.DatabaseList{} })
}
