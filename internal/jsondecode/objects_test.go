package jsondecode

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
)

// podNumber returns one of many pods of a workload, as a server sends it.
func podNumber(t testing.TB, n int) []byte {
	t.Helper()
	data, err := json.Marshal(newPod(n))
	require.NoError(t, err)
	return data
}

func newPod(n int) *corev1.Pod {
	p := kit.RunningPod("web", n)
	p.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	p.Annotations["note"] = "said \"<hello>\"\nand more"
	p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	return p
}

// resourceNumber returns a custom resource of about 4 kB. Many of them are similar.
func resourceNumber(n int) []byte {
	var checks, history strings.Builder
	for i := range 6 {
		fmt.Fprintf(&checks, `,{"interval":%d,"match":{"labels":{"app":"shop","tier":"t%d"},"operator":"In","values":["a","b","c"]},"name":"check-%d","threshold":0.%d5,"url":"https://checks.example.com/v1/check-%d?deep=true"}`, 10*i, i, i, i, i)
		fmt.Fprintf(&history, `,{"deployedAt":"2025-02-0%dT08:00:00Z","id":%d,"revision":"%040x","source":{"path":"apps/shop","repoURL":"https://git.example.com/shop.git","targetRevision":"main"}}`, i+1, i, i*7919)
	}
	return fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Rollout","metadata":{"annotations":{"example.com/hash":"%x","kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Rollout\",\"metadata\":{\"annotations\":{},\"name\":\"shop\"},\"spec\":{\"replicas\":3}}\n"},"creationTimestamp":"2025-01-31T10:00:00Z","finalizers":["example.com/cleanup"],"generation":4,"labels":{"app":"shop","region":"eu-%d"},"managedFields":[{"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:finalizers":{".":{},"v:\"example.com/cleanup\"":{}}},"f:spec":{".":{},"f:checks":{},"f:destination":{".":{},"f:namespace":{},"f:server":{}},"f:replicas":{},"f:strategy":{".":{},"f:rollingUpdate":{}}}},"manager":"kubectl","operation":"Update","time":"2025-01-31T10:00:00Z"}],"name":"shop-%05d","namespace":"team-%d","resourceVersion":"%d","uid":"aaaaaaaa-bbbb-4ccc-8ddd-%012x"},"spec":{"checks":[{"name":"first"}%s],"destination":{"namespace":"shop","server":"https://kubernetes.default.svc"},"paused":false,"replicas":3,"strategy":{"rollingUpdate":{"maxSurge":"25%%","maxUnavailable":0},"type":"RollingUpdate"},"template":{"spec":{"containers":[{"args":["--port","8080"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"registry.example.com/shop:1.2","name":"main","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}],"tolerations":[{"effect":"NoSchedule","key":"spot","operator":"Exists"}]}}},"status":{"availableReplicas":3,"conditions":[{"lastTransitionTime":"2025-02-01T10:%02d:00Z","message":"Rollout is healthy","reason":"Healthy","status":"True","type":"Available"},{"lastTransitionTime":"2025-02-01T09:00:00Z","message":"","reason":"Done","status":"True","type":"Progressing"}],"history":[{"id":-1}%s],"observedGeneration":4,"progress":0.75}}`,
		n, n%4, n, n%10, 5000+n, n, checks.String(), n%60, history.String())
}

// definition is the part of a CustomResourceDefinition whose JSON differs from other kinds.
const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"rollouts.example.com","uid":"1","resourceVersion":"7","creationTimestamp":null},"spec":{"group":"example.com","names":{"kind":"Rollout","plural":"rollouts","shortNames":[]},"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"spec":{"properties":{"data":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"metadata":{"type":"object"},"replicas":{"default":1,"maximum":1e3,"minimum":0,"type":"integer"}},"required":["replicas"],"type":"object"}},"type":"object"}},"served":true,"storage":true,"subresources":{"status":{}}}]},"status":{"acceptedNames":{"kind":"","plural":""},"conditions":null,"storedVersions":["v1"]}}`

const coreEvent = `{"kind":"Event","apiVersion":"v1","metadata":{"name":"web.17a","namespace":"shop","uid":"e1","resourceVersion":"9","creationTimestamp":"2025-03-01T10:00:00Z"},"involvedObject":{"kind":"Pod","namespace":"shop","name":"web","uid":"p1","apiVersion":"v1","fieldPath":"spec.containers{web}"},"reason":"BackOff","message":"Back-off restarting failed container \u003cweb\u003e","source":{"component":"kubelet","host":"node-1"},"firstTimestamp":"2025-03-01T10:00:00Z","lastTimestamp":"2025-03-01T10:05:00Z","count":5,"type":"Warning","eventTime":"2025-03-01T10:00:00.123456Z","reportingComponent":"kubelet","reportingInstance":"node-1","series":null}`
