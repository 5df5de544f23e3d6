package main

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
)

// pods have a handler that takes a while, now and then a long one, and one that does not.
func (s *scene) pods(f *factory.Factory) error {
	told := 0
	slowly := func(any) {
		if told++; told%50 == 0 {
			_ = wait(s.ctx, time.Duration(told%7)*40*time.Millisecond)
		}
	}
	pods := f.Core().V1().Pods().Informer()
	err := pods.AddIndexers(cache.Indexers{"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }})
	return errors.Join(err, handle(pods, slowly), handle(pods, func(any) {}))
}

// nodes have a handler that does not return from the first update.
func (s *scene) nodes(f *factory.Factory) error {
	_, err := f.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { <-s.ctx.Done() }})
	return err
}

// services have a transform that fails on two of them.
func (s *scene) services(f *factory.Factory) error {
	services := f.Core().V1().Services().Informer()
	err := services.SetTransform(func(obj any) (any, error) {
		if service, ok := obj.(*corev1.Service); ok && service.Labels["transform"] == "fails" {
			return nil, errBroken
		}
		return obj, nil
	})
	return errors.Join(err, handle(services, func(any) {}))
}

func (s *scene) secrets(f *factory.Factory) error {
	return handle(f.Core().V1().Secrets().Informer(), func(any) {})
}

func (s *scene) deployments(f *factory.Factory) error {
	return handle(f.Apps().V1().Deployments().Informer(), func(any) {})
}

func (s *scene) configMaps(f *factory.Factory) error {
	return handle(f.Core().V1().ConfigMaps().Informer(), func(any) {})
}

// handle adds a handler that is called with each object.
func handle(i cache.SharedIndexInformer, do func(any)) error {
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: do, UpdateFunc: func(_, obj any) { do(obj) }, DeleteFunc: do})
	return err
}

func named(what string, i int) string { return fmt.Sprintf("%s-%03d", what, i) }
