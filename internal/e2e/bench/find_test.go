package bench

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// askable returns pods in 100 namespaces, of 50 apps and 10 tiers, on 100 nodes. Nine of ten are
// production pods, and nine of ten are managed.
func askable(n int) []*corev1.Pod {
	list := podList(n)
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		p := &list.Items[i]
		p.Namespace = fmt.Sprintf("team-%03d", i%100)
		p.Spec.NodeName = fmt.Sprintf("node-%03d", i/7%100)
		p.Labels = map[string]string{
			"app": fmt.Sprintf("app-%02d", i/100%50), "tier": fmt.Sprintf("tier-%d", i/11%10), "production": fmt.Sprint(i%10 > 0), "managed": fmt.Sprint(i/10%10 > 0),
		}
		pods[i] = p
	}
	return pods
}

// A question is answered by Find with queries, or by handwritten code in a client-go program.
type question struct {
	name    string
	queries []indexer.Query
	byHand  func(clientgoPods) []*corev1.Pod
}

// clientgoPods are client-go's readers of a store of pods.
type clientgoPods struct {
	cache.Indexer
	lister corelisters.PodLister
}

// filtered returns the pods in an index that meet a condition.
func (c clientgoPods) filtered(index, value string, meets func(*corev1.Pod) bool) (pods []*corev1.Pod) {
	found, _ := c.ByIndex(index, value) // only a missing index is an error
	for _, obj := range found {
		if p := obj.(*corev1.Pod); meets(p) {
			pods = append(pods, p)
		}
	}
	return pods
}

// merged returns the pods in several lists, each one once.
func merged(lists ...[]*corev1.Pod) []*corev1.Pod {
	all := map[types.UID]*corev1.Pod{}
	for _, list := range lists {
		for _, p := range list {
			all[p.UID] = p
		}
	}
	return slices.Collect(maps.Values(all))
}

// composite is an index for a single query: by namespace, app and node.
func composite(p *corev1.Pod) string {
	return p.Namespace + "/" + p.Labels["app"] + "/" + p.Spec.NodeName
}

const someNode, someTier = "node-014", "tier-3"

// questionsOf returns the questions. Each one matches an existing pod.
func questionsOf(like *corev1.Pod) []question {
	app, node := like.Labels["app"], like.Spec.NodeName
	onNode := func(node string) map[string]string { return map[string]string{"node": node} }
	one := indexer.Query{Namespace: like.Namespace, Labels: labels.SelectorFromSet(labels.Set{"app": app}), Fields: onNode(node)}
	tier := indexer.Query{Labels: labels.SelectorFromSet(labels.Set{"tier": someTier}), Fields: onNode(someNode)}
	either := []indexer.Query{one, tier, {Namespace: "team-007"}}
	most := labels.SelectorFromSet(labels.Set{"production": "true", "managed": "true"})
	everyPod := func(*corev1.Pod) bool { return true }

	oneByHand := func(c clientgoPods) []*corev1.Pod {
		return c.filtered("node", node, func(p *corev1.Pod) bool { return p.Namespace == like.Namespace && p.Labels["app"] == app })
	}
	tierByHand := func(c clientgoPods) []*corev1.Pod {
		return c.filtered("node", someNode, func(p *corev1.Pod) bool { return p.Labels["tier"] == someTier })
	}
	ready := func(c clientgoPods) []*corev1.Pod { return c.filtered("composite", composite(like), everyPod) }
	team := func(c clientgoPods) []*corev1.Pod { return c.filtered(cache.NamespaceIndex, "team-007", everyPod) }
	return []question{
		{"one", []indexer.Query{one}, oneByHand},
		{"one-composite", []indexer.Query{one}, ready},
		{"label-field", []indexer.Query{tier}, tierByHand},
		{"either", either, func(c clientgoPods) []*corev1.Pod { return merged(oneByHand(c), tierByHand(c), team(c)) }},
		{"either-composite", either, func(c clientgoPods) []*corev1.Pod {
			return merged(ready(c), c.filtered("tier-node", someTier+someNode, everyPod), team(c))
		}},
		{"many", []indexer.Query{{Labels: most}}, func(c clientgoPods) []*corev1.Pod {
			pods, _ := c.lister.List(most) // never returns an error
			return pods
		}},
	}
}

// findable are the indexes that the questions need. Only client-go has those of the composite rows.
var findable = map[string]func(*corev1.Pod) string{"node": func(p *corev1.Pod) string { return p.Spec.NodeName }}

// BenchmarkFind measures compound queries: handwritten with client-go, and with Find.
func BenchmarkFind(b *testing.B) {
	pods := askable(*objects)
	indexers := indexersOf(findable)
	indexers["composite"] = func(obj any) ([]string, error) { return []string{composite(obj.(*corev1.Pod))}, nil }
	indexers["tier-node"] = func(obj any) ([]string, error) {
		p := obj.(*corev1.Pod)
		return []string{p.Labels["tier"] + p.Spec.NodeName}, nil
	}
	x := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	w := writerOf(b, findable)
	for _, p := range pods {
		require.NoError(b, x.Add(p))
		put(w, p)
	}
	theirs := clientgoPods{x, corelisters.NewPodLister(x)}
	ours := indexer.View[*corev1.Pod](w.Indexer())
	for _, q := range questionsOf(pods[len(pods)/2]) {
		want := len(q.byHand(theirs))
		require.NotZero(b, want, q.name)
		b.Run(q.name+"/impl="+clientgo, asking(want, func() int { return len(q.byHand(theirs)) }))
		b.Run(q.name+"/impl="+typed, asking(want, func() int {
			found, _ := ours.Find(q.queries...) // only a missing index is an error
			return found.Len()
		}))
	}
}

// asking returns a benchmark of a question with a number of answers. The question is first asked a few
// times, because selectors get their index after some queries.
func asking(want int, ask func() int) func(b *testing.B) {
	return func(b *testing.B) {
		for range 4 {
			require.Equal(b, want, ask())
		}
		measureAgain(b, func() {
			for range b.N {
				if found := ask(); found != want {
					b.Fatal(found, "pods instead of", want)
				}
			}
		})
	}
}
