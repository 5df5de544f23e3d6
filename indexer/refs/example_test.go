package refs_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
)

// site is a custom resource.
type site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec siteSpec `json:"spec"`
}

type siteSpec struct {
	Template  corev1.PodTemplateSpec `json:"template"`  // known, as in all types
	ThemeName string                 `json:"themeName"` // a ConfigMap, which only this program knows
}

// theme is what a site refers to by a field of its own.
func theme(s *site) []refs.Ref {
	return []refs.Ref{{Kind: "ConfigMap", Namespace: s.Namespace, Name: s.Spec.ThemeName}}
}

// rawTheme is theme for a client without Go types.
func rawTheme(s *unstructured.Unstructured) []refs.Ref {
	name, _, _ := unstructured.NestedString(s.Object, "spec", "themeName")
	return []refs.Ref{{Kind: "ConfigMap", Namespace: s.GetNamespace(), Name: name}}
}

// A custom resource refers to objects by types of k8s.io/api and by fields of its own. Of an unstructured
// object only the latter are known.
func ExampleByReference() {
	shop := &site{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop"}, Spec: siteSpec{ThemeName: "dark"}}
	shop.Spec.Template.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	raw := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "prod", "name": "blog"},
		"spec":     map[string]any{"themeName": "dark"},
	}}
	sites := indexer.View[*site](storeOf(refs.ByReference(theme).Untyped(), shop))
	untyped := indexer.View[*unstructured.Unstructured](storeOf(refs.ByReference(rawTheme).Untyped(), raw))

	registry := refs.Ref{Kind: "Secret", Namespace: "prod", Name: "registry"}
	dark := refs.Ref{Kind: "ConfigMap", Namespace: "prod", Name: "dark"}
	fmt.Println(sites.FindKeys(refs.ReferringTo(registry)))
	fmt.Println(sites.FindKeys(refs.ReferringTo(dark)))
	fmt.Println(untyped.FindKeys(refs.ReferringTo(dark)))
	// Output:
	// [prod/shop] <nil>
	// [prod/shop] <nil>
	// [prod/blog] <nil>
}

// What a ReplicaSet owns is known by its UID, and who controls a pod by name and UID.
func ExampleOwnedBy() {
	web := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web", UID: "1234"}}
	yes := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "web-1", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "1234", Controller: &yes},
	}}}
	replicaSets := storeOf(refs.ByOwner[any](), web)
	pods := indexer.View[*corev1.Pod](storeOf(refs.ByOwner[any](), pod))

	owned, err := pods.Find(refs.OwnedBy(web))
	for p := range owned.All() {
		controller, ok := refs.ControllerOf(replicaSets, p)
		fmt.Println(p.Name, "of", controller.(metav1.Object).GetName(), ok, err)
	}
	// Output:
	// web-1 of web true <nil>
}

// The references in a part of an object.
func ExampleIn() {
	spec := corev1.PodSpec{NodeName: "n1", ServiceAccountName: "web", Volumes: []corev1.Volume{
		{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}},
	}}
	all := refs.In("prod", &spec)
	slices.SortFunc(all, func(a, b refs.Ref) int { return len(a.Kind) - len(b.Kind) })
	fmt.Println(all)
	// Output:
	// [Node//n1 Secret/prod/tls ServiceAccount/prod/web]
}

// storeOf returns a store of objects, as an informer keeps them.
func storeOf(index indexer.Index[any], objects ...metav1.Object) *indexer.Indexer[any] {
	w, err := indexer.New(indexer.Options{Indexes: []indexer.Index[any]{index}})
	if err != nil {
		panic(err)
	}
	tx := w.Begin()
	defer tx.Commit()
	for _, obj := range objects {
		tx.Put(0, indexer.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}, obj, 0)
	}
	return w.Indexer()
}
