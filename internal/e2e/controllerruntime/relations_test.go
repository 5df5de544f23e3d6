package controllerruntime

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/informer"
	"github.com/tidemark-k8s/tidemark/informer/informertest"
)

// bySecrets is the index function that a controller would otherwise have.
func bySecrets(o client.Object) (names []string) {
	p := o.(*corev1.Pod)
	for _, v := range p.Spec.Volumes {
		if v.Secret != nil {
			names = append(names, v.Secret.SecretName)
		}
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil {
				names = append(names, from.SecretRef.Name)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				names = append(names, e.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
	for _, s := range p.Spec.ImagePullSecrets {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// byHand maps a Secret to the pods that refer to it by bySecrets.
func byHand(ctx context.Context, c client.Reader, secret types.NamespacedName) (all []reconcile.Request, err error) {
	var found corev1.PodList
	err = c.List(ctx, &found, client.InNamespace(secret.Namespace), client.MatchingFields{"secrets": secret.Name})
	for i := range found.Items {
		all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
	}
	return all, err
}

// byRelation is like byHand, by the relation.
func byRelation(x *indexer.Indexer[*corev1.Pod], secret types.NamespacedName) (all []reconcile.Request, err error) {
	keys, err := x.FindKeys(refs.ReferringTo(refs.Ref{Kind: "Secret", Namespace: secret.Namespace, Name: secret.Name}))
	for _, k := range keys {
		all = append(all, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: k.Namespace, Name: k.Name}})
	}
	return all, err
}

// refer adds references to Secrets to a pod, in any of their places.
func refer(p *corev1.Pod, random *rand.Rand) {
	for range random.IntN(4) {
		name := fmt.Sprint("secret-", random.IntN(6))
		here := corev1.LocalObjectReference{Name: name}
		c := &p.Spec.Containers[0]
		switch random.IntN(5) {
		case 0:
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}})
		case 1:
			c.EnvFrom = append(c.EnvFrom, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: here}})
		case 2:
			c.Env = append(c.Env, corev1.EnvVar{Name: "X", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: here, Key: "k"}}})
		case 3:
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: "i", EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: here}}}})
		case 4:
			p.Spec.ImagePullSecrets = append(p.Spec.ImagePullSecrets, here)
		}
	}
}

// A mapper with bySecrets and one with the relation enqueue the same requests for each Secret, while
// pods come, change and go.
func TestMappersByHandAndByRelation(t *testing.T) {
	r := newRig(t, wired, informertest.Options{})
	c := r.cache(t, cache.Options{})
	require.NoError(t, c.IndexField(t.Context(), &corev1.Pod{}, "secrets", bySecrets))
	i, ok := informer.As[*corev1.Pod](informerOf(t, c, typed).(toolscache.SharedIndexInformer))
	require.True(t, ok)
	require.NoError(t, i.AddIndexes(refs.ByReference[*corev1.Pod]()))
	t.Cleanup(r.start(t, c))
	require.True(t, c.WaitForCacheSync(t.Context()))

	random, compared := rand.New(rand.NewPCG(35, 0)), 0
	for range 20 {
		for range 10 {
			p := pod([]string{"a", "b"}[random.IntN(2)], fmt.Sprint("p-", random.IntN(12)), "web")
			_ = r.server.Delete(t.Context(), p) // it may not exist
			if random.IntN(4) > 0 {
				refer(p, random)
				r.create(t, p)
			}
		}
		require.NoError(t, i.WaitFresh(t.Context()))
		for n := range 12 {
			secret := types.NamespacedName{Namespace: []string{"a", "b"}[n%2], Name: fmt.Sprint("secret-", n/2)}
			want, err := byHand(t.Context(), c, secret)
			require.NoError(t, err)
			got, err := byRelation(i.Indexer(), secret)
			require.NoError(t, err)
			for _, all := range [][]reconcile.Request{want, got} {
				slices.SortFunc(all, func(a, b reconcile.Request) int { return strings.Compare(a.String(), b.String()) })
			}
			assert.Equal(t, want, got, secret)
			compared += len(want)
		}
	}
	assert.Greater(t, compared, 100, "requests")
}
