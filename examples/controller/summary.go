package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tidemark-k8s/tidemark/indexer"
)

const (
	wantedLabel    = "example.com/summary" // requests a summary of a Deployment
	managedByLabel = "app.kubernetes.io/managed-by"
	manager        = "tidemark-example-controller"
)

// reconcile corrects the summary of a name, and returns a description of its change. A second call does
// nothing. It reads only the stores, which have the controller's own writes, but may lack recent writes of
// others. The server then rejects a write that is based on an old version, and the controller retries.
func (c *controller) reconcile(ctx context.Context, key indexer.Key) (did string, err error) {
	deployment, absent := c.deployments.Lister().Namespace(key.Namespace).Get(key.Name)
	summary, missing := c.summaries.Lister().Namespace(key.Namespace).Get(key.Name)
	switch wanted := absent == nil && deployment.DeletionTimestamp == nil; {
	case wanted && missing == nil:
		return c.update(ctx, deployment, summary)
	case wanted:
		return c.create(ctx, deployment)
	case missing == nil:
		return c.remove(ctx, summary)
	}
	return "", nil
}

func (c *controller) create(ctx context.Context, deployment *appsv1.Deployment) (string, error) {
	summary := summarize(deployment, &corev1.ConfigMap{})
	_, err := c.client.CoreV1().ConfigMaps(deployment.Namespace).Create(ctx, summary, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return c.adopt(ctx, deployment)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return "", nil // the Deployment will be deleted, too
	case err != nil:
		return "", err
	}
	return "summary created: " + describe(summary), nil
}

// adopt updates a summary that exists but is not in the store: it was created a moment ago, or its label was
// removed.
func (c *controller) adopt(ctx context.Context, deployment *appsv1.Deployment) (string, error) {
	summary, err := c.client.CoreV1().ConfigMaps(deployment.Namespace).Get(ctx, deployment.Name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if !metav1.IsControlledBy(summary, deployment) {
		return "", errors.New("a ConfigMap of this name has another owner")
	}
	return c.update(ctx, deployment, summary)
}

func (c *controller) update(ctx context.Context, deployment *appsv1.Deployment, summary *corev1.ConfigMap) (string, error) {
	right := summarize(deployment, summary)
	if equality.Semantic.DeepEqual(right, summary) {
		return "", nil
	}
	_, err := c.client.CoreV1().ConfigMaps(right.Namespace).Update(ctx, right, metav1.UpdateOptions{})
	if err != nil {
		return "", err
	}
	return "summary updated: " + describe(right), nil
}

// remove deletes a summary. If the summary has changed in the meantime, the delete fails and is retried. The
// garbage collector deletes a summary only with its Deployment, and not when the Deployment loses its label.
func (c *controller) remove(ctx context.Context, summary *corev1.ConfigMap) (string, error) {
	err := c.client.CoreV1().ConfigMaps(summary.Namespace).Delete(ctx, summary.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &summary.UID, ResourceVersion: &summary.ResourceVersion},
	})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return "summary deleted", nil
}

// summarize returns the correct summary of a Deployment, with other fields from the current one. It makes a
// copy, because objects from a store are shared.
func summarize(deployment *appsv1.Deployment, now *corev1.ConfigMap) *corev1.ConfigMap {
	summary := now.DeepCopy()
	summary.Namespace, summary.Name = deployment.Namespace, deployment.Name
	metav1.SetMetaDataLabel(&summary.ObjectMeta, managedByLabel, manager)
	summary.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))}

	replicas := int32(1) // the server's default
	if deployment.Spec.Replicas != nil {
		replicas = *deployment.Spec.Replicas
	}
	var images []string
	for _, container := range deployment.Spec.Template.Spec.Containers {
		images = append(images, container.Image)
	}
	summary.BinaryData = nil
	summary.Data = map[string]string{"replicas": fmt.Sprint(replicas), "images": strings.Join(images, " ")}
	return summary
}

func describe(summary *corev1.ConfigMap) string {
	return summary.Data["replicas"] + " of " + summary.Data["images"]
}
