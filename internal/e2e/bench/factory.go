package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/tidemark-k8s/tidemark/factory"
)

// newFactoryPods makes an informer as those have it who ask a factory's accessors, of
// client-go or of tidemark.
func newFactoryPods(i implementation, from origin) subject {
	var f informers.SharedInformerFactory
	if i == clientgo {
		f = informers.NewSharedInformerFactory(podClient{from: from}, 0)
	} else {
		f = factory.NewSharedInformerFactory(podClient{from: from}, 0)
	}
	pods := f.Core().V1().Pods()
	return shared{pods.Informer(), pods.Lister()}
}

// podClient is a clientset that knows pods, from an origin.
type podClient struct {
	kubernetes.Interface
	typedcorev1.CoreV1Interface
	typedcorev1.PodInterface
	from origin
}

func (c podClient) CoreV1() typedcorev1.CoreV1Interface { return c }

func (c podClient) Pods(string) typedcorev1.PodInterface { return c }

func (podClient) IsWatchListSemanticsUnSupported() bool { return true }

func (c podClient) List(ctx context.Context, o metav1.ListOptions) (*corev1.PodList, error) {
	list, err := c.from.List(ctx, o)
	if err != nil {
		return nil, err
	}
	return list.(*corev1.PodList), nil
}

func (c podClient) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return c.from.Watch(ctx, o)
}
