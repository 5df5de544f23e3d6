package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is an API object.
type Object interface {
	runtime.Object
	metav1.Object
}

// Kind is a kind, and the number of its objects.
type Kind struct {
	Resource schema.GroupVersionResource
	// Stored is the path of the objects in etcd below /registry.
	Stored string
	Count  int
	// Make returns the i-th object.
	Make func(i int) Object
}

// row is a kind. The number of its objects is in thousandths of the number of pods.
type row struct {
	group, version, resource string
	stored                   string // the path in etcd; empty if it equals the resource
	share                    int
	object                   func(c chance, m metav1.ObjectMeta, i int) Object
}

// Kinds returns twenty kinds. The first one is the pods, with a third of all objects.
func (m *Cluster) Kinds() []Kind {
	kinds := []Kind{{
		Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Stored: "pods", Count: m.Pods(),
		Make: func(i int) Object { return m.Pod(i) },
	}}
	for _, r := range m.rows() {
		kind := Kind{
			Resource: schema.GroupVersionResource{Group: r.group, Version: r.version, Resource: r.resource},
			Stored:   r.stored, Count: max(1, m.Pods()*r.share/1000), Make: func(i int) Object { return m.make(r, i) },
		}
		if kind.Stored == "" {
			kind.Stored = r.resource
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// KindResources returns the resources of [Cluster.Kinds], in the same order.
func KindResources() []schema.GroupVersionResource {
	var all []schema.GroupVersionResource
	for _, k := range (&Cluster{}).Kinds() {
		all = append(all, k.Resource)
	}
	return all
}

func (m *Cluster) rows() []row {
	return []row{
		{"apps", "v1", "replicasets", "", 400, m.replicaSet},
		{"", "v1", "events", "", 400, event},
		{"", "v1", "configmaps", "", 220, configMap},
		{"", "v1", "secrets", "", 200, secret},
		{"discovery.k8s.io", "v1", "endpointslices", "", 130, endpointSlice},
		{"", "v1", "services", "services/specs", 120, service},
		{"apps", "v1", "deployments", "", 120, m.deployment},
		{"", "v1", "serviceaccounts", "", 100, serviceAccount},
		{"batch", "v1", "jobs", "", 70, m.job},
		{"rbac.authorization.k8s.io", "v1", "rolebindings", "", 50, roleBinding},
		{"rbac.authorization.k8s.io", "v1", "roles", "", 40, role},
		{"", "v1", "persistentvolumeclaims", "", 30, claim},
		{"networking.k8s.io", "v1", "ingresses", "ingress", 25, ingress},
		{"networking.k8s.io", "v1", "networkpolicies", "", 25, networkPolicy},
		{"policy", "v1", "poddisruptionbudgets", "", 20, budget},
		{"", "v1", "nodes", "minions", 15, node},
		{"coordination.k8s.io", "v1", "leases", "", 15, lease},
		{"apps", "v1", "statefulsets", "", 15, m.statefulSet},
		{"apps", "v1", "daemonsets", "", 5, m.daemonSet},
	}
}

// make returns the i-th object of a row, with the metadata common to all kinds.
func (m *Cluster) make(r row, i int) Object {
	c := newChance(m.seed, r.resource, i)
	division := pick(c, divisions)
	name := pick(c, domains) + "-" + pick(c, parts) + "-" + suffix(i)
	meta := metav1.ObjectMeta{
		Namespace: Namespace(c.IntN(Namespaces)), Name: name, UID: c.uid(), CreationTimestamp: c.day(c.IntN(300)),
		Labels: map[string]string{
			"app": name, "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": division + "-service-4.2.1", "team": division,
		},
		Annotations: map[string]string{"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": division},
	}
	object := r.object(c, meta, i)
	gv := schema.GroupVersion{Group: r.group, Version: r.version}
	fields := unstructured(object)
	delete(fields, "kind")
	delete(fields, "apiVersion")
	fields["metadata"] = map[string]any{"labels": fields["metadata"].(map[string]any)["labels"]}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{managed(pick(c, []string{"helm", "kube-controller-manager", "argocd-controller"}), gv.String(), "",
		object.GetCreationTimestamp(), fieldsOf(fields))})
	return object
}
