package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tidemark-k8s/tidemark/indexer"
	"github.com/tidemark-k8s/tidemark/indexer/refs"
	"github.com/tidemark-k8s/tidemark/internal/e2e/faults/harness"
)

const (
	relatedPods     = 5000
	relatedOwners   = 500
	relatedSecrets  = 60
	relatedSettings = 40 // ConfigMaps
)

// related are pods with owners and references that writers constantly change.
type related struct {
	s       *scenario
	written atomic.Int64
	took    time.Duration // total time of the writes
}

// pod returns a pod that refers to a Secret in a volume and in an environment variable, and to a
// ConfigMap, and that has one or two owners.
func (r *related) pod(i int, random *rand.Rand) *corev1.Pod {
	p := harness.Pod(harness.Namespace(i%namespaces), harness.PodName(i), i)
	p.OwnerReferences = randomOwners(random)
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "related", VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: fmt.Sprint("secret-", random.IntN(relatedSecrets))},
	}})
	c := &p.Spec.Containers[0]
	c.EnvFrom = append(c.EnvFrom,
		corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprint("secret-", random.IntN(relatedSecrets))}}},
		corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprint("settings-", random.IntN(relatedSettings))}}})
	return p
}

func randomOwners(random *rand.Rand) (all []metav1.OwnerReference) {
	first := random.IntN(relatedOwners)
	for n := range 1 + random.IntN(2) {
		name := fmt.Sprint("set-", (first+n)%relatedOwners)
		all = append(all, metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: types.UID(name)})
	}
	return all
}

// create creates all pods.
func (r *related) create() {
	r.s.must(harness.CreateNamespaces(r.s.ctx, r.s.admin, namespaces))
	r.s.must(harness.Each(r.s.ctx, harness.Creators, relatedPods, func(ctx context.Context, i int) error {
		p := r.pod(i, rand.New(rand.NewPCG(21, uint64(i))))
		_, err := r.s.admin.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
		return err
	}))
}

// during writes the pods during a fault, about 200 times per second if the machine allows it.
func (r *related) during(fault func()) {
	ctx, cancel := context.WithCancel(r.s.ctx)
	var writers sync.WaitGroup
	began := time.Now()
	const each = 8
	for w := range each {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(22, uint64(r.written.Load())+uint64(w)))
			for beat := time.Tick(each * time.Second / 200); ctx.Err() == nil; <-beat {
				// A write does not end with ctx, so that nothing changes afterwards.
				if r.write(context.WithoutCancel(ctx), w+each*random.IntN(relatedPods/each), random) == nil {
					r.written.Add(1)
				}
			}
		})
	}
	fault()
	cancel()
	writers.Wait()
	r.took += time.Since(began)
}

// write changes the owners of a pod, or recreates it with other references. It does not repeat a write
// that fails during a fault.
func (r *related) write(ctx context.Context, i int, random *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	p := r.pod(i, random)
	pods := r.s.admin.CoreV1().Pods(p.Namespace)
	if random.IntN(3) == 0 {
		if err := pods.Delete(ctx, p.Name, now); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if random.IntN(3) == 0 {
			return nil // a later write recreates it
		}
		_, err := pods.Create(ctx, p, metav1.CreateOptions{})
		return err
	}
	owners := ""
	for n, o := range p.OwnerReferences {
		if n > 0 {
			owners += ","
		}
		owners += fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}`, o.APIVersion, o.Kind, o.Name, o.UID)
	}
	_, err := pods.Patch(ctx, p.Name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"ownerReferences":[%s]}}`, owners), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		_, err = pods.Create(ctx, p, metav1.CreateOptions{})
	}
	return err
}

// relations has the keys of the pods that an owner owns, and the keys of the pods that refer to an
// object.
type relations map[string]map[indexer.Key]bool

func (r relations) add(of string, p *corev1.Pod) {
	if r[of] == nil {
		r[of] = map[indexer.Key]bool{}
	}
	r[of][keyOf(p)] = true
}

// relationsOf walks through the pods of a server's list, like a program without relations.
func relationsOf(pods []*corev1.Pod) relations {
	r := relations{}
	for _, p := range pods {
		for _, o := range p.OwnerReferences {
			r.add("owner "+string(o.UID), p)
		}
		for _, v := range p.Spec.Volumes {
			if v.Secret != nil {
				r.add("Secret/"+p.Namespace+"/"+v.Secret.SecretName, p)
			}
		}
		for _, c := range p.Spec.Containers {
			for _, from := range c.EnvFrom {
				if from.SecretRef != nil {
					r.add("Secret/"+p.Namespace+"/"+from.SecretRef.Name, p)
				}
				if from.ConfigMapRef != nil {
					r.add("ConfigMap/"+p.Namespace+"/"+from.ConfigMapRef.Name, p)
				}
			}
		}
		if p.Spec.NodeName != "" {
			r.add("Node//"+p.Spec.NodeName, p)
		}
	}
	return r
}

// compare asks the cache for each possible relation, and compares the answers with a list of the server.
func (r *related) compare(m *mirror[*corev1.Pod]) (asked int) {
	t := r.s.t
	t.Helper()
	pods, err := m.list(r.s.ctx)
	r.s.must(err)
	truth, x := relationsOf(pods), m.informer.Indexer()
	check := func(of string, q indexer.Query) {
		asked++
		found, err := x.FindKeys(q)
		r.s.must(err)
		for _, k := range found {
			if !truth[of][k] {
				t.Errorf("%v finds %v", q, k)
			}
		}
		if len(found) != len(truth[of]) {
			t.Errorf("%v finds %d of %d pods", q, len(found), len(truth[of]))
		}
	}
	for i := range relatedOwners {
		uid := types.UID(fmt.Sprint("set-", i))
		check("owner "+string(uid), refs.OwnedBy(&metav1.ObjectMeta{UID: uid}))
	}
	for n := range namespaces {
		for i := range relatedSecrets {
			ref := refs.Ref{Kind: "Secret", Namespace: harness.Namespace(n), Name: fmt.Sprint("secret-", i)}
			check(ref.String(), refs.ReferringTo(ref))
		}
		for i := range relatedSettings {
			ref := refs.Ref{Kind: "ConfigMap", Namespace: harness.Namespace(n), Name: fmt.Sprint("settings-", i)}
			check(ref.String(), refs.ReferringTo(ref))
		}
	}
	for of := range truth {
		var node string
		if _, err := fmt.Sscanf(of, "Node//%s", &node); err == nil {
			check(of, refs.ReferringTo(refs.Ref{Kind: "Node", Name: node}))
		}
	}
	return asked
}

// Owners and references equal those in the server's lists after broken watches, a server restart that
// makes the informer relist, and an outage.
func TestScenario_Relations(t *testing.T) {
	s := begin(t, harness.Options{})
	r := &related{s: s}
	r.create()
	proxy := s.proxy()
	m := s.pods(harness.Via(s.cluster.Config(), proxy.Address()), podSource)
	s.must(m.informer.AddIndexes(refs.ByOwner[*corev1.Pod](), refs.ByReference[*corev1.Pod]()))
	m.start()
	m.watching()
	part := size(4*time.Second, 30*time.Second)
	asked := 0
	rest := func() {
		s.heal()
		m.converge()
		asked += r.compare(m)
	}
	rest()
	r.during(func() {
		for range 3 {
			s.sleep(part / 3)
			proxy.Cut()
		}
	})
	rest()
	r.during(func() { // afterwards the server does not know the informer's version
		proxy.Refuse()
		proxy.Cut()
		s.sleep(part)
		s.must(s.cluster.RestartAPIServer(s.ctx))
		s.must(proxy.Admit())
	})
	rest()
	if m.informer.Status().Relists == 0 {
		t.Error("the informer has not relisted")
	}
	r.during(func() {
		s.must(s.cluster.Etcd.Freeze())
		s.sleep(part)
		s.must(s.cluster.Etcd.Thaw())
		s.sleep(part)
	})
	rest()
	s.note = fmt.Sprintf("%d writes, %.0f per second; %d relations compared", r.written.Load(), float64(r.written.Load())/r.took.Seconds(), asked)
	t.Log(s.note)
	m.settle()
}
