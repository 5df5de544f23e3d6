package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// library is client-go or tidemark: whose informers a measured process runs. Both
// are used as their users do.
type library interface {
	// configure is for the config of all clients.
	configure(*rest.Config)
	typed(c kubernetes.Interface, namespace string) informers.SharedInformerFactory
	dynamic(dynamic.Interface) dynamicinformer.DynamicSharedInformerFactory
	// databases is an informer of the custom resource, as a Go type.
	databases(kubernetes.Interface, *databaseClient) (cache.SharedIndexInformer, error)
}

func (t task) library() library {
	if t.Tidemark {
		return tidemark{t}
	}
	return clientGo{t}
}

// subject is what the informers of a measured process hold.
type subject string

const (
	allPods          subject = ""
	podsByNamespace  subject = "pods by namespace" // an informer for each
	dynamicDatabases subject = "databases, dynamic"
	typedDatabases   subject = "databases, typed"
	allKinds         subject = "kinds"
	// controllerCaches are those of a program like kube-controller-manager, which
	// strips managedFields: indexes over the pods, many handlers, and two for each
	// other kind, of which one is the garbage collector's.
	controllerCaches subject = "controller caches"
)

// fields is what becomes of managedFields.
type fields string

const (
	kept     fields = ""
	stripped fields = "stripped" // by a transform
	dropped  fields = "dropped"  // by tidemark itself; client-go keeps them
)

// strip is the transform. It is that of kube-controller-manager.
func strip(obj any) (any, error) {
	if o, ok := obj.(metav1.Object); ok && len(o.GetManagedFields()) > 0 {
		o.SetManagedFields(nil)
	}
	return obj, nil
}

// podHandlers is how many controllers of kube-controller-manager look at pods.
const podHandlers = 12

// informers makes what a task asks for.
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
	case allKinds:
		return kinds(lib, client)
	case controllerCaches:
		return caches(lib, client)
	case dynamicDatabases:
		untyped, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		one = lib.dynamic(untyped).ForResource(cluster.Databases).Informer()
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
	pods := all[0] // of the kinds they come first
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
