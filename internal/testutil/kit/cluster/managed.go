package cluster

import (
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// addManagers adds the managedFields of a pod's two managers: the controller that
// created it, and the kubelet.
func (c chance) addManagers(pod *corev1.Pod, o *owner) {
	heard := after(pod.CreationTimestamp, c.between(60, 86_400))
	pod.ManagedFields = []metav1.ManagedFieldsEntry{
		managed("kube-controller-manager", "v1", "", pod.CreationTimestamp, o.fields),
		managed("kubelet", "v1", "status", heard, kubeletFields(pod)),
	}
}

// kubeletFields returns the fields of the status, except for the condition PodScheduled, which the
// scheduler manages.
func kubeletFields(pod *corev1.Pod) string {
	status := pod.Status
	status.Conditions = status.Conditions[:len(status.Conditions)-1]
	return fieldsOf(map[string]any{"status": unstructured(&status)})
}

// controllerFields returns the fields that the controller has set in each pod of an owner, including the
// server's defaults.
func (o *owner) controllerFields() string {
	labels := maps.Clone(o.labels)
	if o.kind == statefulSet {
		labels["statefulset.kubernetes.io/pod-name"], labels["apps.kubernetes.io/pod-index"] = "", ""
	}
	return fieldsOf(map[string]any{
		"metadata": unstructured(&metav1.ObjectMeta{GenerateName: o.name, Labels: labels, Annotations: o.annotations, OwnerReferences: o.reference()}),
		"spec":     unstructured(&o.spec),
	})
}

func managed(manager, version, subresource string, at metav1.Time, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version, Subresource: subresource,
		Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// unstructured returns an object as decoded JSON.
func unstructured(of any) map[string]any {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(of)
	if err != nil {
		panic(err) // a bug in this package
	}
	delete(m, "creationTimestamp")
	return m
}

// keys are the fields that identify the items of a list, by the name of the list. Other lists have one
// owner as a whole.
var keys = map[string][]string{
	"containers": {"name"}, "initContainers": {"name"}, "volumes": {"name"}, "env": {"name"}, "imagePullSecrets": {"name"},
	"ports": {"containerPort", "protocol"}, "volumeMounts": {"mountPath"}, "topologySpreadConstraints": {"topologyKey", "whenUnsatisfiable"},
	"conditions": {"type"}, "ownerReferences": {"uid"}, "podIPs": {"ip"}, "hostIPs": {"ip"}, "hostAliases": {"ip"},
	"users": {"name"}, "schemas": {"name"},
}

// whole are the objects that have one owner as a whole.
var whole = map[string]bool{
	"nodeSelector": true, "labelSelector": true, "selector": true, "fieldRef": true, "configMapKeyRef": true, "secretKeyRef": true,
	"requiredDuringSchedulingIgnoredDuringExecution": true,
}

// fieldsOf returns a FieldsV1 with all fields of an object.
func fieldsOf(object map[string]any) string {
	text, err := json.Marshal(fieldSet(object))
	if err != nil {
		panic(err) // a bug in this package
	}
	return string(text)
}

func fieldSet(object map[string]any) map[string]any {
	set := make(map[string]any, len(object))
	for name, value := range object {
		set["f:"+name] = fieldsBelow(name, value)
	}
	return set
}

func fieldsBelow(name string, value any) map[string]any {
	switch value := value.(type) {
	case map[string]any:
		if whole[name] || len(value) == 0 {
			break
		}
		set := fieldSet(value)
		if name != "metadata" && name != "spec" && name != "status" {
			set["."] = map[string]any{}
		}
		return set
	case []any:
		if !keyed(value, keys[name]) {
			break
		}
		set := map[string]any{".": map[string]any{}}
		for _, item := range value {
			below := fieldSet(item.(map[string]any))
			below["."] = map[string]any{}
			set[itemKey(item.(map[string]any), keys[name])] = below
		}
		return set
	}
	return map[string]any{}
}

// keyed reports whether all items of a list have their identifying fields.
func keyed(list []any, by []string) bool {
	for _, item := range list {
		object, ok := item.(map[string]any)
		for _, name := range by {
			ok = ok && object[name] != nil
		}
		if !ok {
			return false
		}
	}
	return by != nil
}

// itemKey returns the name of a list item in FieldsV1.
func itemKey(item map[string]any, by []string) string {
	key := map[string]any{}
	for _, name := range by {
		key[name] = item[name]
	}
	text, err := json.Marshal(key)
	if err != nil {
		panic(err) // a bug in this package
	}
	return fmt.Sprintf("k:%s", text)
}
