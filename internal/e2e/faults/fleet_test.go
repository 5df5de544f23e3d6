package faults

import (
	"context"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

// widgetObjects are the Widgets that fleet keeps pods for. Scaling a Widget also changes its image, so
// that fleet has to replace pods.
func (s *scenario) widgetObjects(client dynamic.Interface) objects {
	in := func(i int) (dynamic.ResourceInterface, string) {
		return client.Resource(widgetsResource).Namespace(harness.Namespace(i % teams)), fmt.Sprint("widget-", i)
	}
	return objects{
		create: func(ctx context.Context, i int) error {
			widgets, name := in(i)
			w := object(widgetsResource, "Widget", name)
			w.Object["spec"] = map[string]any{"replicas": int64(2), "image": "registry.example.com/widget:2"}
			_, err := widgets.Create(ctx, w, metav1.CreateOptions{})
			return err
		},
		scale: func(ctx context.Context, i, replicas int) error {
			widgets, name := in(i)
			patch := fmt.Sprintf(`{"spec":{"replicas":%d,"image":"registry.example.com/widget:%d"}}`, replicas, replicas%3)
			_, err := widgets.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		},
		remove: func(ctx context.Context, i int) error {
			widgets, name := in(i)
			return widgets.Delete(ctx, name, metav1.DeleteOptions{})
		},
	}
}

// fleetDiffers returns an error if a pod of a Widget is missing, wrong or left over.
func (s *scenario) fleetDiffers(client dynamic.Interface) error {
	widgets, err := client.Resource(widgetsResource).List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := s.admin.CoreV1().Pods("").List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	left := byKey(pointers(pods.Items))
	for i := range widgets.Items {
		w := &widgets.Items[i]
		replicas, _, _ := unstructured.NestedInt64(w.Object, "spec", "replicas")
		image, _, _ := unstructured.NestedString(w.Object, "spec", "image")
		for serial := range replicas {
			k := indexer.Key{Namespace: w.GetNamespace(), Name: fmt.Sprintf("%s-%d", w.GetName(), serial)}
			pod, ok := left[k]
			if !ok || !metav1.IsControlledBy(pod, w) || pod.Spec.Containers[0].Image != image || !ready(pod) {
				return fmt.Errorf("%s needs %d pods of %s, but %v is wrong: %v", w.GetName(), replicas, image, k, pod)
			}
			delete(left, k)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%d pods are left over", len(left))
	}
	return nil
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

var countLine = regexp.MustCompile(`(\S+): (\d+ of \d+) pods are ready`)

// countsDiffer returns an error if the last count that the counter printed for a namespace is wrong.
func (s *scenario) countsDiffer(counter *harness.Process) error {
	text, err := counter.Output()
	if err != nil {
		return err
	}
	said := map[string]string{}
	for _, m := range countLine.FindAllStringSubmatch(text, -1) {
		said[m[1]] = m[2]
	}
	for i := range teams {
		namespace := harness.Namespace(i)
		pods, err := s.admin.CoreV1().Pods(namespace).List(s.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		all, fit := len(pods.Items), 0
		for i := range pods.Items {
			if ready(&pods.Items[i]) {
				fit++
			}
		}
		if want := fmt.Sprintf("%d of %d", fit, all); said[namespace] != want {
			return fmt.Errorf("namespace %s has %s, but the counter printed %q", namespace, want, said[namespace])
		}
	}
	return nil
}
