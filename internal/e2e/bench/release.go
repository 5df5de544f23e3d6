package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// release is a custom resource, as an operator has it that deploys programs.
type release struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              releaseSpec   `json:"spec"`
	Status            releaseStatus `json:"status"`
}

type releaseSpec struct {
	Source   releaseSource  `json:"source"`
	Replicas int64          `json:"replicas"`
	Paused   bool           `json:"paused"`
	Values   map[string]any `json:"values,omitempty"`
	Checks   []releaseCheck `json:"checks"`
}

type releaseSource struct {
	Repository string `json:"repository"`
	Path       string `json:"path"`
	Revision   string `json:"revision"`
}

type releaseCheck struct {
	Name      string            `json:"name"`
	URL       string            `json:"url"`
	Interval  int64             `json:"interval"`
	Threshold float64           `json:"threshold"`
	Labels    map[string]string `json:"labels,omitempty"`
	Operator  string            `json:"operator"`
	Values    []string          `json:"values,omitempty"`
}

type releaseStatus struct {
	ObservedGeneration int64              `json:"observedGeneration"`
	Conditions         []metav1.Condition `json:"conditions"`
	History            []releaseStep      `json:"history"`
}

type releaseStep struct {
	ID       int64         `json:"id"`
	At       metav1.Time   `json:"at"`
	Revision string        `json:"revision"`
	Source   releaseSource `json:"source"`
}

// newRelease is the release of a number: some 4 kB, of which the greater part is
// that of all releases of its variant. There are as many variants as workloads.
func newRelease(i int) *release {
	w := i % workloads
	return &release{
		TypeMeta: metav1.TypeMeta{APIVersion: "deploy.example.com/v1", Kind: "Release"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("team-%03d", w%50), Name: fmt.Sprintf("%s-%05x", appName(w), i), Generation: 4, ResourceVersion: version(i),
			UID: types.UID(fmt.Sprintf("8f14e45f-ceea-467f-9b1e-%012d", i)), CreationTimestamp: moment(i), Finalizers: []string{"deploy.example.com/cleanup"},
			Labels:        map[string]string{"app.kubernetes.io/name": appName(w), "app.kubernetes.io/managed-by": "Helm", "region": fmt.Sprintf("eu-%d", i%4)},
			Annotations:   map[string]string{"checksum/values": digest(w), "deploy.example.com/tracking-id": fmt.Sprintf("%s-%05x", appName(w), i)},
			ManagedFields: []metav1.ManagedFieldsEntry{manager("deploy-operator", "", moment(i), "spec")},
		},
		Spec: releaseSpec{
			Source: sourceOf(w), Replicas: 3, Checks: checksOf(w),
			Values: map[string]any{
				"image":     map[string]any{"repository": "registry.example.com/" + appName(w), "tag": "1.27.3", "pullPolicy": "IfNotPresent"},
				"resources": map[string]any{"limits": map[string]any{"cpu": "1", "memory": "1Gi"}, "requests": map[string]any{"cpu": "100m", "memory": "128Mi"}},
				"service":   map[string]any{"port": int64(8080), "annotations": map[string]any{}, "ratio": 0.75, "enabled": true},
			},
		},
		Status: releaseStatus{ObservedGeneration: 4, Conditions: conditionsOf(i), History: historyOf(w)},
	}
}

func sourceOf(w int) releaseSource {
	return releaseSource{Repository: "https://git.example.com/" + appName(w) + ".git", Path: "apps/" + appName(w), Revision: "main"}
}

func checksOf(w int) []releaseCheck {
	all := make([]releaseCheck, 5)
	for i := range all {
		all[i] = releaseCheck{
			Name: fmt.Sprintf("check-%d", i), URL: fmt.Sprintf("https://checks.example.com/v1/%s/%d?deep=true", appName(w), i), Interval: int64(10 * i),
			Threshold: 0.05 + float64(i), Labels: map[string]string{"app": appName(w), "tier": "backend"}, Operator: "In", Values: []string{"a", "b", "c"},
		}
	}
	return all
}

func conditionsOf(i int) []metav1.Condition {
	var all []metav1.Condition
	for _, of := range []string{"Available", "Progressing"} {
		all = append(all, metav1.Condition{
			Type: of, Status: metav1.ConditionTrue, ObservedGeneration: 4, LastTransitionTime: moment(i), Reason: of + "AsExpected", Message: "3 of 3 replicas are ready",
		})
	}
	return all
}

// historyOf is what was deployed before, the same for all of a variant.
func historyOf(w int) []releaseStep {
	all := make([]releaseStep, 4)
	for i := range all {
		all[i] = releaseStep{ID: int64(i), At: moment(w + i), Revision: digest(w + i)[24:], Source: sourceOf(w)}
	}
	return all
}
