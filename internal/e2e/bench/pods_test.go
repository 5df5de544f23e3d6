package bench

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// perGroup is the number of pods per namespace, and per app.
const perGroup = 1000

// firstVersion is the resourceVersion of the first object. It is high enough that all versions have the
// same length.
const firstVersion = 100_000_000

func version(n int) string { return strconv.Itoa(firstVersion + n) }

// population makes n pods: perGroup in each namespace, and perGroup of each app, across all namespaces.
// The first app is x. The pods are small, but have the usual fields. The pods of an app share the spec
// and the owners.
type population struct {
	n, groups  int
	specs      []corev1.PodSpec          // by app
	owners     [][]metav1.OwnerReference // by app
	conditions []corev1.PodCondition
}

func populate(n int) *population {
	p := &population{n: n, groups: max(1, n/perGroup), conditions: podConditions()}
	for app := range p.groups {
		p.specs, p.owners = append(p.specs, podSpec(app)), append(p.owners, podOwners(app))
	}
	return p
}

// fill fills in the i-th pod with a version.
func (p *population) fill(pod *corev1.Pod, i int, version string) {
	app := i / p.groups % p.groups
	pod.ObjectMeta = metav1.ObjectMeta{
		Namespace:         fmt.Sprintf("team-%03d", i%p.groups),
		Name:              fmt.Sprintf("%s-6d4b75cb6d-%06d", appName(app), i),
		UID:               types.UID(fmt.Sprintf("8f14e45f-ceea-467f-9b1e-%012d", i)),
		ResourceVersion:   version,
		CreationTimestamp: created,
		Labels:            map[string]string{"app": appName(app), "tier": "backend", "pod-template-hash": "6d4b75cb6d"},
		Annotations:       map[string]string{"prometheus.io/scrape": "true"},
		OwnerReferences:   p.owners[app],
	}
	pod.Spec = p.specs[app]
	pod.Spec.NodeName = nodeName(i)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), Conditions: p.conditions}
}

// podList returns a population as one list.
func podList(n int) *corev1.PodList {
	p := populate(n)
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version(n)}, Items: make([]corev1.Pod, n)}
	for i := range list.Items {
		p.fill(&list.Items[i], i, version(i))
	}
	return list
}

// nodeName returns the node of the i-th pod.
func nodeName(i int) string { return fmt.Sprintf("node-%04d", i%500) }

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

// later returns a copy of a list in which one of every objects is newer, and the number of newer
// objects.
func later(list *corev1.PodList, every int) (*corev1.PodList, int) {
	next := *list
	next.Items = slices.Clone(list.Items)
	next.ResourceVersion = version(2 * len(list.Items))
	changed := 0
	for i := 0; i < len(next.Items); i += every {
		next.Items[i].ResourceVersion = version(len(list.Items) + i)
		changed++
	}
	return &next, changed
}

// changer makes events that change the pods of a list in turn. Each event has its own object, with a
// higher version than all earlier events.
type changer struct {
	list *corev1.PodList
	made int
}

func (c *changer) next() watch.Event {
	p := c.list.Items[c.made%len(c.list.Items)]
	c.made++
	p.ResourceVersion = version(len(c.list.Items) + c.made)
	return watch.Event{Type: watch.Modified, Object: &p}
}
