package refs

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/internal/testutil/fakecodec"
)

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)}
}

func to[T any](v T) *T { return &v }

func secret(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }

// podSpec refers to everything that pods usually refer to.
var podSpec = corev1.PodSpec{
	NodeName: "n1", ServiceAccountName: "web", DeprecatedServiceAccount: "web", PriorityClassName: "high", RuntimeClassName: to("gvisor"), SchedulerName: "default",
	ImagePullSecrets: []corev1.LocalObjectReference{secret("registry"), secret("")},
	InitContainers:   []corev1.Container{{Name: "init", EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: secret("env")}}}}},
	Containers: []corev1.Container{{
		Name:         "web",
		EnvFrom:      []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: secret("settings")}}},
		VolumeMounts: []corev1.VolumeMount{{Name: "tls"}},
		Env: []corev1.EnvVar{
			{Name: "PLAIN", Value: "x"},
			{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: secret("password"), Key: "a"}}},
			{Name: "B", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: secret("settings"), Key: "b"}}},
			{Name: "C", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
		},
	}},
	Volumes: []corev1.Volume{
		{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}},
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
		{Name: "ceph", VolumeSource: corev1.VolumeSource{CephFS: &corev1.CephFSVolumeSource{SecretRef: to(secret("ceph"))}}},
		{Name: "all", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: secret("ca")}},
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
			{ClusterTrustBundle: &corev1.ClusterTrustBundleProjection{Name: to("roots")}},
		}}}},
	},
}

const podRefs = "ClusterTrustBundle.certificates.k8s.io//roots ConfigMap/shop/ca ConfigMap/shop/settings ConfigMap/shop/settings Node//n1 PersistentVolumeClaim/shop/data " +
	"PriorityClass.scheduling.k8s.io//high RuntimeClass.node.k8s.io//gvisor Secret/shop/ceph Secret/shop/env Secret/shop/password Secret/shop/registry Secret/shop/tls ServiceAccount/shop/web"

// scripted, Scripts and Bindings are embedded in all the ways that Go knows.
type (
	scripted struct{ Scripts }
	Scripts  struct {
		Replicas        int `json:"replicas"`
		*corev1.PodSpec `json:",inline"`
		Bindings
	}
	Bindings []corev1.ObjectReference
)

func ipAddress(group, resource string) *networkingv1.IPAddress {
	return &networkingv1.IPAddress{Spec: networkingv1.IPAddressSpec{
		ParentRef: &networkingv1.ParentReference{Group: group, Resource: resource, Namespace: "else", Name: "web"},
	}}
}

func TestReferences(t *testing.T) {
	template := corev1.PodTemplateSpec{Spec: podSpec}
	written := corev1.ObjectReference{Kind: "Deployment", APIVersion: "apps/v1", Namespace: "else", Name: "web"}
	for name, c := range map[string]struct {
		obj  any
		want string
	}{
		"a pod":        {&corev1.Pod{ObjectMeta: named("shop", "p"), Spec: podSpec, Status: corev1.PodStatus{NominatedNodeName: "n2"}}, podRefs},
		"a value":      {corev1.Pod{Spec: podSpec}, podRefs},
		"a deployment": {&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: template}}, podRefs},
		"a stateful set": {&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{ServiceName: "web", VolumeClaimTemplates: []corev1.PersistentVolumeClaim{
			{ObjectMeta: named("", "data"), Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: to("fast"), VolumeName: "pv"}},
		}}}, "PersistentVolume//pv Service/shop/web StorageClass.storage.k8s.io//fast"},
		"an ingress": {&networkingv1.Ingress{Spec: networkingv1.IngressSpec{
			IngressClassName: to("nginx"),
			TLS:              []networkingv1.IngressTLS{{SecretName: "cert", Hosts: []string{"a"}}},
			DefaultBackend:   &networkingv1.IngressBackend{Resource: &corev1.TypedLocalObjectReference{APIGroup: to("k8s.example.com"), Kind: "Bucket", Name: "static"}},
			Rules: []networkingv1.IngressRule{{IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
				Paths: []networkingv1.HTTPIngressPath{{Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web"}}}},
			}}}},
		}}, "Bucket.k8s.example.com/shop/static IngressClass.networking.k8s.io//nginx Secret/shop/cert Service/shop/web"},
		"an IP address":                  {ipAddress("", "services"), "Service/else/web"},
		"an IP address of another kind":  {ipAddress("", "pods"), ""},
		"an IP address of another group": {ipAddress("example.com", "services"), ""},
		"a volume": {&corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "fast", ClaimRef: &corev1.ObjectReference{Namespace: "else", Name: "data"},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi", NodeStageSecretRef: &corev1.SecretReference{Namespace: "csi", Name: "stage"}}},
		}}, "PersistentVolumeClaim/else/data Secret/csi/stage StorageClass.storage.k8s.io//fast"},
		"a claim": {&corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			DataSource:    &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "old"},
			DataSourceRef: &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Namespace: to("else"), Name: "older"},
		}}, "PersistentVolumeClaim/else/older PersistentVolumeClaim/shop/old"},
		"a secret without a namespace": {&corev1.SecretReference{Name: "tls"}, "Secret/shop/tls"},
		"a robot without a namespace":  {&rbacv1.Subject{Kind: "ServiceAccount", Name: "robot"}, "ServiceAccount/shop/robot"},
		"a claim with an empty one":    {&corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Namespace: to(""), Name: "old"}, "PersistentVolumeClaim/shop/old"},
		"a claim without a namespace":  {&corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "old"}, "PersistentVolumeClaim/shop/old"},
		"a service account": {&corev1.ServiceAccount{Secrets: []corev1.ObjectReference{{Name: "token"}, {Kind: "Secret", Name: "more"}}, ImagePullSecrets: []corev1.LocalObjectReference{secret("registry")}},
			"Secret/shop/more Secret/shop/registry Secret/shop/token"},
		"a role binding": {&rbacv1.RoleBinding{RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "view"}, Subjects: []rbacv1.Subject{
			{Kind: "ServiceAccount", Namespace: "else", Name: "robot"}, {Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: "jane"},
		}}, "ClusterRole.rbac.authorization.k8s.io//view ServiceAccount/else/robot"},
		"a role":   {&rbacv1.RoleRef{Kind: "Role", Name: "edit"}, "Role.rbac.authorization.k8s.io/shop/edit"},
		"an event": {&corev1.Event{InvolvedObject: written, Related: &corev1.ObjectReference{Kind: "Node", Name: "n1"}}, "Deployment.apps/else/web Node//n1"},
		"an object that says its kind": {
			&storagev1.CSIStorageCapacity{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSIStorageCapacity"}, StorageClassName: "fast"}, "StorageClass.storage.k8s.io//fast",
		},
		"an embedded pointer":        {&struct{ *corev1.PodSpec }{&podSpec}, podRefs},
		"an embedded nil":            {&struct{ *corev1.PodSpec }{}, ""},
		"a deeply embedded pointer":  {&scripted{Scripts{PodSpec: &podSpec}}, podRefs},
		"a type that is not visible": {&struct{ scripted }{scripted{Scripts{PodSpec: &podSpec}}}, podRefs},
		"an embedded list":           {&struct{ Scripts }{Scripts{Bindings: Bindings{{Kind: "Zebra", Namespace: "else", Name: "z"}}}}, "Zebra/else/z"},
		"an embedded field with its Go name": {&struct {
			corev1.PodSpec `json:"PodSpec"`
		}{podSpec}, podRefs},
		"an embedded field without JSON": {&struct {
			*corev1.PodSpec `json:"-"`
		}{&podSpec}, ""},
		"a kind that is not given":   {&corev1.ObjectReference{Name: "x"}, ""},
		"a reference without a rule": {to(secret("x")), ""},
		"a part":                     {&template.Spec, podRefs},
		"a list of parts":            {podSpec.ImagePullSecrets, ""},
		"many pods":                  {[]corev1.PodSpec{{NodeName: "n1"}, {NodeName: "n2"}}, "Node//n1 Node//n2"},
		"a status":                   {&corev1.PodStatus{NominatedNodeName: "n2"}, ""},
		"nothing":                    {nil, ""},
		"a nil":                      {(*corev1.Pod)(nil), ""},
		"a number":                   {7, ""},
		"an unstructured object":     {&unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "spec": map[string]any{"nodeName": "n1"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range In("shop", c.obj) {
				got = append(got, r.String())
			}
			slices.Sort(got)
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

// store returns a store of objects with both relations, and a counter of what is decoded.
func store(t *testing.T, objects ...metav1.Object) (*indexer.Indexer[any], *indexer.Writer, *fakecodec.Codec, *[]*indexer.IndexError) {
	c, failures := new(fakecodec.Codec), new([]*indexer.IndexError)
	of := func(obj any) []Ref {
		switch obj.(metav1.Object).GetName() {
		case "poisoned":
			panic("on purpose")
		case "more":
			return []Ref{{Kind: "Zebra", Namespace: "else", Name: "z"}, {Kind: "Zebra"}}
		}
		return nil
	}
	w, err := indexer.New(indexer.Options{
		Indexes: []indexer.Index[any]{ByOwner[any](), ByReference(of)}, Codec: c,
		Report: func(e *indexer.IndexError) { *failures = append(*failures, e) },
	})
	require.NoError(t, err)
	put(w, objects...)
	x := w.Indexer()
	return x, w, c, failures
}

func put(w *indexer.Writer, objects ...metav1.Object) {
	tx := w.Begin()
	defer tx.Commit()
	for _, obj := range objects {
		tx.Put(0, indexer.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}, obj, 0)
	}
}

func keysOf(t *testing.T, x *indexer.Indexer[any], q indexer.Query) string {
	keys, err := x.FindKeys(q)
	require.NoError(t, err)
	var names []string
	for _, key := range keys {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Each relation is found by keys alone: nothing is decoded. What an object referred to before is not found.
func TestContract_D38_WhoRefersAndWhoIsOwned(t *testing.T) {
	rs := &appsv1.ReplicaSet{ObjectMeta: named("shop", "web")}
	owned := func(name string, owners ...metav1.OwnerReference) metav1.ObjectMeta {
		m := named("shop", name)
		m.OwnerReferences = owners
		return m
	}
	by := metav1.OwnerReference{Kind: "ReplicaSet", Name: "web", UID: rs.UID}
	pod := &corev1.Pod{ObjectMeta: owned("p", by), Spec: podSpec}
	raw := &unstructured.Unstructured{Object: map[string]any{}}
	raw.SetName("raw")
	raw.SetOwnerReferences([]metav1.OwnerReference{{Name: "other", UID: "other"}, by, by})
	x, w, c, failures := store(t, pod, raw,
		&metav1.PartialObjectMetadata{ObjectMeta: owned("partial", by)},
		&corev1.Pod{ObjectMeta: owned("not", metav1.OwnerReference{Name: "web", UID: "an earlier one"}, metav1.OwnerReference{Name: "web"})},
		&corev1.Pod{ObjectMeta: named("shop", "more")},
		&corev1.Pod{ObjectMeta: owned("poisoned", by), Spec: podSpec},
	)
	for _, e := range *failures {
		require.Equal(t, []string{ReferenceIndex, "poisoned"}, []string{e.Index, e.Key.Name})
	}
	require.Len(t, *failures, 1)
	c.Decoded()
	for want, q := range map[string]indexer.Query{
		"raw shop/p shop/partial shop/poisoned": OwnedBy(rs),
		"shop/p":                                ReferringTo(Ref{Kind: "Secret", Namespace: "shop", Name: "tls"}),
		"shop/more":                             ReferringTo(Ref{Kind: "Zebra", Namespace: "else", Name: "z"}),
	} {
		require.Equal(t, want, keysOf(t, x, q))
		s, err := x.Find(q)
		require.NoError(t, err)
		require.Equal(t, strings.Count(want, " ")+1, s.Len())
	}
	for _, q := range []indexer.Query{
		OwnedBy(&corev1.Pod{}), ReferringTo(Ref{}), ReferringTo(Ref{Kind: "Zebra"}), ReferringTo(Ref{Kind: "Secret", Name: "tls"}), ReferringTo(Ref{Kind: "Secret", Namespace: "shop"}),
	} {
		require.Empty(t, keysOf(t, x, q), "%v", q)
	}
	require.Zero(t, c.Decoded())
	put(w, &corev1.Pod{ObjectMeta: named("shop", "p"), Spec: corev1.PodSpec{NodeName: "n2"}})
	require.Empty(t, keysOf(t, x, ReferringTo(Ref{Kind: "Node", Name: "n1"})))
	require.Equal(t, "shop/p", keysOf(t, x, ReferringTo(Ref{Kind: "Node", Name: "n2"})))
	require.NotContains(t, keysOf(t, x, OwnedBy(rs)), "shop/p ")
}

// What has no metadata is owned by nobody, and refers from no namespace.
func TestAnObjectWithoutMetadata(t *testing.T) {
	require.Empty(t, ByOwner[any]().Append(nil, 7))
	require.Equal(t, []string{"Node//n1"}, ByReference[any]().Append(nil, &corev1.PodSpec{NodeName: "n1"}))
	require.Empty(t, ByReference[*runtime.Unknown]().Append(nil, &runtime.Unknown{}))
}

func TestControllerOf(t *testing.T) {
	x, w, _, _ := store(t, &appsv1.ReplicaSet{ObjectMeta: named("shop", "web")}, &corev1.Node{ObjectMeta: named("", "n1")})
	controlled := func(by string, uid types.UID, controller bool) metav1.Object {
		m := named("shop", "p")
		m.OwnerReferences = []metav1.OwnerReference{{Name: "other", UID: "other"}, {Name: by, UID: uid, Controller: &controller}}
		return &corev1.Pod{ObjectMeta: m}
	}
	for name, c := range map[string]struct {
		obj  metav1.Object
		want string
	}{
		"its controller":       {controlled("web", "uid-web", true), "web"},
		"one that is no more":  {controlled("web", "uid-before", true), ""},
		"an owner":             {controlled("web", "uid-web", false), ""},
		"nobody":               {&corev1.Pod{ObjectMeta: named("shop", "p")}, ""},
		"one that is missing":  {controlled("gone", "uid-gone", true), ""},
		"a cluster-scoped one": {controlled("n1", "uid-n1", true), "n1"},
	} {
		got, ok := ControllerOf(x, c.obj)
		require.Equal(t, c.want != "", ok, name)
		if ok {
			require.Equal(t, c.want, got.(metav1.Object).GetName(), name)
		}
		typed, ok := ControllerOf(indexer.View[*appsv1.ReplicaSet](x), c.obj)
		require.Equal(t, c.want == "web", ok, name)
		require.Equal(t, ok, typed != nil)
	}
	again := named("shop", "web")
	again.UID = "another"
	put(w, &appsv1.ReplicaSet{ObjectMeta: again})
	_, ok := ControllerOf(x, controlled("web", "uid-web", true))
	require.False(t, ok, "it was created again")
}

func BenchmarkByReference(b *testing.B) {
	pod := &corev1.Pod{ObjectMeta: named("shop", "p"), Spec: podSpec}
	index := ByReference[any]()
	var values []string
	b.ReportAllocs()
	for b.Loop() {
		values = index.Append(values[:0], pod)
	}
}
