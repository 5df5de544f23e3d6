package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
)

// seed is that of all worlds.
const seed = 37

// world is what the servers hold while something is measured.
type world struct {
	name string
	fill func(*stage) error
}

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

var (
	podWorld      = &world{"pods", func(s *stage) error { return s.fillPods(s.pods, s.unique) }}
	uniqueWorld   = &world{"pods that share nothing", func(s *stage) error { return s.fillPods(s.pods/2, true) }}
	databaseWorld = &world{"custom resources", (*stage).fillDatabases}
	kindWorld     = &world{"twenty kinds", (*stage).fillKinds}
	widgetWorld   = &world{"pods and widgets", (*stage).fillWidgets}
)

func (s *stage) fillPods(n int, unique bool) error {
	s.made = cluster.New(seed, n)
	s.pod = s.made.Pod
	if unique {
		s.pod = s.made.Unique
	}
	return s.hold(cluster.Kind{
		Resource: podResource, Stored: "pods", Count: n, Make: func(i int) cluster.Object { return s.pod(i) },
	})
}

// fillKinds makes three times as many objects as there are pods.
func (s *stage) fillKinds() error {
	s.made = cluster.New(seed, s.pods)
	return s.hold(s.made.Kinds()...)
}

func (s *stage) fillDatabases() error {
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(cluster.DatabaseCRD, &crd.Object); err != nil {
		return err
	}
	if err := s.define(crd, cluster.Databases); err != nil {
		return err
	}
	s.made = cluster.New(seed, 0)
	return s.hold(cluster.Kind{
		Resource: cluster.Databases, Stored: cluster.Databases.Group + "/" + cluster.Databases.Resource, Count: s.pods / 2,
		Make: func(i int) cluster.Object { return s.made.Database(i) },
	})
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define makes a custom resource known, and waits until it is.
func (s *stage) define(crd *unstructured.Unstructured, resource schema.GroupVersionResource) error {
	if _, err := s.client.Resource(definitions).Create(s.ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	return s.served(resource)
}
