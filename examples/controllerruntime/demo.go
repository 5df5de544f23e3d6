package main

import (
	"context"
	"log"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tidemark-k8s/tidemark/examples/internal/demo"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// story is a demo cluster. In two namespaces, pods are replaced one by one, as by a Deployment. One
// Deployment reads a Secret.
func story(notes *log.Logger) demo.Story {
	s := demo.Pods(notes,
		demo.App{Namespace: "shop", Name: "web", Replicas: 4},
		demo.App{Namespace: "billing", Name: "web", Replicas: 2})
	s.Begin = populate
	return s
}

// populate creates two Deployments. One of them reads a Secret and owns a ReplicaSet.
func populate(ctx context.Context, server *informertest.Server) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "tls"}, StringData: map[string]string{"key": "v1"}}
	web := newDeployment("web")
	web.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret.Name}}}}
	for _, o := range []runtime.Object{secret, web, newDeployment("cart")} {
		if err := server.Create(ctx, o); err != nil {
			return err
		}
	}
	if err := server.Get(ctx, web.Namespace, web.Name, web); err != nil { // now with its UID
		return err
	}
	return server.Create(ctx, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: web.Namespace, Name: "web-1",
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(web, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
	}})
}

func newDeployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}
