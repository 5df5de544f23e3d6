package main

import (
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/factory"
	"github.com/tidemark-k8s/tidemark/informer"
)

// pods makes an informer of pods with a slow handler and a fast one.
func (s *scene) pods(f *factory.Factory) error {
	calls := 0
	slowly := func(informer.Change[*corev1.Pod]) {
		if calls++; calls%50 == 0 {
			_ = wait(s.ctx, time.Duration(calls%7)*40*time.Millisecond)
		}
	}
	err := f.Core().V1().Pods().Informer().AddIndexers(cache.Indexers{"node": func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }})
	return errors.Join(err, handle(f, "controller", slowly), handle(f, "metrics", func(informer.Change[*corev1.Pod]) {}))
}

// nodes makes an informer of nodes. Its handler does not return from the first update.
func (s *scene) nodes(f *factory.Factory) error {
	return errors.Join(handle(f, "controller", func(c informer.Change[*corev1.Node]) {
		if c.Kind == informer.Updated {
			<-s.ctx.Done()
		}
	}), handle(f, "metrics", func(informer.Change[*corev1.Node]) {}))
}

// services makes an informer of services with a transform that fails on some services.
func (s *scene) services(f *factory.Factory) error {
	err := f.Core().V1().Services().Informer().SetTransform(func(obj any) (any, error) {
		if service, ok := obj.(*corev1.Service); ok && service.Labels["transform"] == "fails" {
			return nil, errBroken
		}
		return obj, nil
	})
	return errors.Join(err, handle(f, "controller", func(informer.Change[*corev1.Service]) {}))
}

func (s *scene) secrets(f *factory.Factory) error {
	return handle(f, "controller", func(informer.Change[*corev1.Secret]) {})
}

func (s *scene) deployments(f *factory.Factory) error {
	return handle(f, "controller", func(informer.Change[*appsv1.Deployment]) {})
}

func (s *scene) configMaps(f *factory.Factory) error {
	return handle(f, "controller", func(informer.Change[*corev1.ConfigMap]) {})
}

// handle adds a handler for the changes of a kind.
func handle[T informer.Object](f *factory.Factory, name string, do func(informer.Change[T])) error {
	i, err := factory.For[T](f)
	if err != nil {
		return err
	}
	_, err = i.Handle(informer.HandlerFunc[T](do), informer.HandlerOptions{Name: name})
	return err
}

func named(what string, i int) string { return fmt.Sprintf("%s-%03d", what, i) }
