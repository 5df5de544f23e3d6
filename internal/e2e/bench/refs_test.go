package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
)

// referring returns pods with 11 references each. Every ten pods share a Secret.
func referring(n int) []*corev1.Pod {
	list := podList(n)
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		p := &list.Items[i]
		group := fmt.Sprint(i / 10)
		secret := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name + group} }
		p.Namespace = "team"
		p.Spec.PriorityClassName, p.Spec.ImagePullSecrets = "high", []corev1.LocalObjectReference{secret("registry-")}
		c := p.Spec.Containers[0]
		c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: secret("env-")}}}
		for _, name := range []string{"user-", "password-", "token-"} {
			c.Env = append(c.Env[:len(c.Env):len(c.Env)], corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: secret(name)}}})
		}
		p.Spec.Containers = []corev1.Container{c}
		for _, name := range []string{"tls-", "ca-", "key-"} {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name + group}}})
		}
		pods[i] = p
	}
	return pods
}

// ownersByHand and referencesByHand are handwritten index functions of client-go programs.
func ownersByHand(obj any) (uids []string, _ error) {
	for _, owner := range obj.(*corev1.Pod).OwnerReferences {
		uids = append(uids, string(owner.UID))
	}
	return uids, nil
}

func referencesByHand(obj any) (values []string, _ error) {
	p := obj.(*corev1.Pod)
	add := func(kind, name string) { values = append(values, kind+"/"+p.Namespace+"/"+name) }
	values = append(values, "Node//"+p.Spec.NodeName, "PriorityClass//"+p.Spec.PriorityClassName)
	add("ServiceAccount", p.Spec.ServiceAccountName)
	for _, s := range p.Spec.ImagePullSecrets {
		add("Secret", s.Name)
	}
	for i := range p.Spec.Volumes {
		if s := p.Spec.Volumes[i].Secret; s != nil {
			add("Secret", s.SecretName)
		}
	}
	for i := range p.Spec.Containers {
		for _, from := range p.Spec.Containers[i].EnvFrom {
			if from.ConfigMapRef != nil {
				add("ConfigMap", from.ConfigMapRef.Name)
			}
		}
		for _, e := range p.Spec.Containers[i].Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				add("Secret", e.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
	return values, nil
}

// BenchmarkRefs measures an update of a pod whose references do not change, with both relations and with
// neither. It also measures finding the pods that refer to a Secret.
func BenchmarkRefs(b *testing.B) {
	pods := referring(*objects)
	indexers := byNamespace()
	indexers[refs.OwnerIndex], indexers[refs.ReferenceIndex] = ownersByHand, referencesByHand
	x, bare := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers), cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace())
	w, bareWriter := writerOf(b, nil, refs.ByOwner[any](), refs.ByReference[any]()), writerOf(b, nil)
	of := func(x cache.Indexer) func(*corev1.Pod) { return func(p *corev1.Pod) { _ = x.Update(p) } } // only a missing key is an error
	to := func(w *indexer.Writer) func(*corev1.Pod) { return func(p *corev1.Pod) { put(w, p) } }
	for _, u := range []struct {
		name string
		put  func(*corev1.Pod)
	}{
		{"update/impl=" + clientgo, of(x)},
		{"update/impl=" + typed, to(w)},
		{"update-without/impl=" + clientgo, of(bare)},
		{"update-without/impl=" + typed, to(bareWriter)},
	} {
		for _, p := range pods {
			u.put(p)
		}
		b.Run(u.name, func(b *testing.B) {
			measureAgain(b, func() {
				for i := range b.N {
					u.put(pods[i%len(pods)])
				}
			})
		})
	}

	secret := refs.Ref{Kind: "Secret", Namespace: "team", Name: "tls-7"}
	value, query := secret.String(), refs.ReferringTo(secret)
	known, err := x.ByIndex(refs.ReferenceIndex, value)
	require.NoError(b, err)
	b.Run("referring/impl="+clientgo, asking(len(known), func() int {
		found, _ := x.ByIndex(refs.ReferenceIndex, value) // only a missing index is an error
		return len(found)
	}))
	b.Run("referring/impl="+typed, asking(10, func() int {
		found, _ := w.Indexer().Find(query) // only a missing index is an error
		return found.Len()
	}))
}
