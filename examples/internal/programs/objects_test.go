package programs

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// newDeployment returns a Deployment that requests a summary.
func newDeployment(name string, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"example.com/summary": "wanted"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: name, Image: "registry.example/" + name + ":v1"},
			}}},
		},
	}
}

// cronTabs is the resource of crontab.yaml.
var cronTabs = informertest.Kind{
	GVR:        schema.GroupVersionResource{Group: "stable.example.com", Version: "v1", Resource: "crontabs"},
	GVK:        schema.GroupVersionKind{Group: "stable.example.com", Version: "v1", Kind: "CronTab"},
	Namespaced: true,
	Generation: true,
}

func newCronTab(name, schedule string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "stable.example.com/v1",
		"kind":       "CronTab",
		"metadata":   map[string]any{"namespace": "shop", "name": name},
		"spec":       map[string]any{"schedule": schedule, "image": "registry.example/" + name + ":v1"},
	}}
}

// newPod returns a pod with the name of its app.
func newPod(namespace, app string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app, Labels: map[string]string{"app": app}}}
}

// newNamespace returns a Namespace. If it is watched, it has the label that examples/namespaces selects.
func newNamespace(name string, watched bool) *corev1.Namespace {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if watched {
		namespace.Labels = map[string]string{"example.com/watched": "yes"}
	}
	return namespace
}

// newConfigMap returns a ConfigMap like those of the demo cluster of examples/sharded.
func newConfigMap(n int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("settings-%03d", n)},
		Data:       map[string]string{"number": fmt.Sprint(n)},
	}
}
