package main

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// perGroup is how many pods there are in a namespace, and of an app.
const perGroup = 1000

// firstVersion is the resourceVersion of the first of all objects, high enough
// that all versions are of one length.
const firstVersion = 100_000_000

func version(n int) string { return strconv.Itoa(firstVersion + n) }

// podList returns n pods: perGroup in each namespace, and perGroup, of all
// namespaces, of each app, the first of which is x. They are small, but have
// what pods have; what the pods of an app have in common they share.
func podList(n int) *corev1.PodList {
	groups := max(1, n/perGroup)
	specs := make([]corev1.PodSpec, groups)
	owners := make([][]metav1.OwnerReference, groups)
	for app := range groups {
		specs[app], owners[app] = podSpec(app), podOwners(app)
	}
	conditions := podConditions()
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version(n)}, Items: make([]corev1.Pod, n)}
	for i := range list.Items {
		app := i / groups % groups
		p := &list.Items[i]
		p.ObjectMeta = metav1.ObjectMeta{
			Namespace:         fmt.Sprintf("team-%03d", i%groups),
			Name:              fmt.Sprintf("%s-6d4b75cb6d-%06d", appName(app), i),
			UID:               types.UID(fmt.Sprintf("8f14e45f-ceea-467f-9b1e-%012d", i)),
			ResourceVersion:   version(i),
			CreationTimestamp: created,
			Labels:            map[string]string{"app": appName(app), "tier": "backend", "pod-template-hash": "6d4b75cb6d"},
			Annotations:       map[string]string{"prometheus.io/scrape": "true"},
			OwnerReferences:   owners[app],
		}
		p.Spec = specs[app]
		p.Spec.NodeName = fmt.Sprintf("node-%04d", i%500)
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), Conditions: conditions}
	}
	return list
}

var created = metav1.NewTime(time.Unix(1_700_000_000, 0))

func appName(app int) string {
	if app == 0 {
		return "x"
	}
	return fmt.Sprintf("app-%03d", app)
}

func podSpec(app int) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName: appName(app),
		Containers: []corev1.Container{{
			Name:  appName(app),
			Image: "registry.example.com/" + appName(app) + ":1.27.3",
			Env:   []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
			}},
		}},
	}
}

func podOwners(app int) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: appName(app) + "-6d4b75cb6d", Controller: &yes,
		UID: types.UID(fmt.Sprintf("c9f0f895-fb98-4b9a-9b1e-%012d", app)),
	}}
}

func podConditions() []corev1.PodCondition {
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: created}
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: created}
	return []corev1.PodCondition{scheduled, ready}
}

// later returns a copy of a list in which all is newer.
func later(list *corev1.PodList) *corev1.PodList {
	next := *list
	next.Items = make([]corev1.Pod, len(list.Items))
	next.ResourceVersion = version(2 * len(list.Items))
	for i := range next.Items {
		next.Items[i] = list.Items[i]
		next.Items[i].ResourceVersion = version(len(list.Items) + i)
	}
	return &next
}

// changes returns n events that change the pods of a list in turn. Each has an
// object of its own, and a version that comes after all before it.
func changes(list *corev1.PodList, n int) []watch.Event {
	all := make([]watch.Event, n)
	for i := range all {
		p := list.Items[i%len(list.Items)]
		p.ResourceVersion = version(len(list.Items) + 1 + i)
		all[i] = watch.Event{Type: watch.Modified, Object: &p}
	}
	return all
}
