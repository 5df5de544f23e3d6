package bench

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// questions are the queries for a store, with the correct answers.
type questions struct {
	keys       []indexer.Key
	spelled    []string // the same keys in client-go's form
	namespaces []string
	sizes      []int // the number of objects in each namespace
	objects    int
	app        labels.Selector // equality
	ofApp      int
	operators  labels.Selector // all operators except equality
	ofOperator int
	inEach     []int // the number of objects of operators, by namespace
}

// newQuestions makes queries about a list in random order. The keys are copies of the objects' strings,
// so that equal keys have different addresses.
func newQuestions(b *testing.B, list *corev1.PodList) *questions {
	operators, err := labels.Parse("app in (x,app-001),tier notin (frontend,cache),pod-template-hash")
	require.NoError(b, err)
	q := &questions{objects: len(list.Items), app: labels.SelectorFromSet(labels.Set{"app": "x"}), operators: operators}
	at := map[string]int{}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(list.Items)) {
		p := &list.Items[i]
		key := indexer.Key{Namespace: strings.Clone(p.Namespace), Name: strings.Clone(p.Name)}
		q.keys, q.spelled = append(q.keys, key), append(q.spelled, key.String())
		if _, ok := at[p.Namespace]; !ok {
			at[p.Namespace] = len(q.namespaces)
			q.namespaces, q.sizes, q.inEach = append(q.namespaces, key.Namespace), append(q.sizes, 0), append(q.inEach, 0)
		}
		q.sizes[at[p.Namespace]]++
		if q.operators.Matches(labels.Set(p.Labels)) {
			q.ofOperator++
			q.inEach[at[p.Namespace]]++
		}
		if q.app.Matches(labels.Set(p.Labels)) {
			q.ofApp++
		}
	}
	return q
}

// BenchmarkRead measures reads from an informer.
func BenchmarkRead(b *testing.B) {
	readEach(b, newPods, everyone, func(r *readers, run func(name string, read func(*testing.B))) {
		run("get", r.gets(1))
		run("get-some", r.gets(perGroup))
		run("get-any", r.gets(*objects))
		run("get-key", r.getsByKey)
		run("namespace", r.lists(r.q.namespaces, labels.Everything(), r.q.sizes))
		run("range", r.ranges)
		run("selector", r.lists([]string{""}, r.q.app, []int{r.q.ofApp}))
		run("operators", r.lists([]string{""}, r.q.operators, []int{r.q.ofOperator}))
		run("operators-namespace", r.lists(r.q.namespaces, r.q.operators, r.q.inEach))
		run("all", r.lists([]string{""}, labels.Everything(), []int{r.q.objects}))
		run("get-contended", r.getsContended)
	})
}

// BenchmarkLister measures reads by a factory's lister. A client-go program gets tidemark's lister by
// changing an import.
func BenchmarkLister(b *testing.B) {
	readEach(b, newFactoryPods, []string{clientgo, clientgoAPI}, func(r *readers, run func(name string, read func(*testing.B))) {
		run("get", r.gets(1))
		run("get-any", r.gets(*objects))
		run("namespace", r.lists(r.q.namespaces, labels.Everything(), r.q.sizes))
		run("selector", r.lists([]string{""}, r.q.app, []int{r.q.ofApp}))
		run("all", r.lists([]string{""}, labels.Everything(), []int{r.q.objects}))
		run("get-contended", r.getsContended)
	})
}

// readEach runs benchmarks with one informer of each implementation.
func readEach(b *testing.B, make maker, impls []string, all func(r *readers, run func(name string, read func(*testing.B)))) {
	list := podList(*objects)
	q := newQuestions(b, list)
	for _, impl := range impls {
		r := &readers{impl: impl, make: make, pods: list, q: q}
		all(r, func(name string, read func(*testing.B)) { b.Run(name+"/impl="+impl, read) })
		r.stop(b)
	}
}

// readers reads one informer, which starts with the first selected benchmark.
type readers struct {
	impl string
	make maker
	pods *corev1.PodList
	q    *questions

	informer *started
	watch    *feedWatch
	flow     *flow
}

// started returns the informer with its initial state.
func (r *readers) started(b *testing.B) subject {
	if r.informer == nil {
		r.flow = newFlow(b, r.pods)
		recorded := newCounter(tally{adds: len(r.pods.Items)})
		recorded.each, recorded.more = r.flow.arrived, true
		f := newFeed(r.pods)
		r.informer = start(b, r.make(r.impl, f), recorded)
		r.watch = r.informer.awaitSync(f.opened)
		f.answer(nil) // the informer has copies
	}
	r.informer.b, r.flow.b = b, b
	return r.informer.subject
}

func (r *readers) stop(b *testing.B) {
	if r.informer != nil {
		r.informer.b = b
		r.informer.stop()
	}
}

// get returns a loop that gets some of the objects in turn by the lister.
func (r *readers) get(b *testing.B, some int) (loop func(n int)) {
	keys := r.q.keys[:min(some, len(r.q.keys))]
	switch s := r.started(b).(type) {
	case shared:
		return func(n int) {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(keys)) {
				if _, err := s.lister.Pods(keys[j].Namespace).Get(keys[j].Name); err != nil {
					b.Error(err)
				}
			}
		}
	case own[*corev1.Pod]:
		lister := s.Lister()
		return func(n int) {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(keys)) {
				if _, err := lister.Namespace(keys[j].Namespace).Get(keys[j].Name); err != nil {
					b.Error(err)
				}
			}
		}
	}
	panic("unknown kind of informer")
}

func (r *readers) gets(some int) func(b *testing.B) {
	return func(b *testing.B) {
		loop := r.get(b, some)
		measure(b, func() { loop(b.N) })
	}
}

// getsContended gets one object on two goroutines, while a writer changes pods at a constant rate. The
// reported time is that of a Get on one goroutine.
func (r *readers) getsContended(b *testing.B) {
	loop := r.get(b, 1)
	r.flow.during(r.watch, func() {
		measure(b, func() {
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { loop(b.N) })
			}
			all.Wait()
		})
	})
}

// getsByKey gets all objects in random order by a key from the indexer.
func (r *readers) getsByKey(b *testing.B) {
	found := 0
	switch s := r.started(b).(type) {
	case shared:
		store, keys := s.GetIndexer(), r.q.spelled
		measure(b, func() {
			for i, j := 0, 0; i < b.N; i, j = i+1, after(j, len(keys)) {
				if _, ok, err := store.GetByKey(keys[j]); ok && err == nil {
					found++
				}
			}
		})
	case own[*corev1.Pod]:
		store, keys := s.Indexer(), r.q.keys
		measure(b, func() {
			for i, j := 0, 0; i < b.N; i, j = i+1, after(j, len(keys)) {
				if _, ok := store.Get(keys[j]); ok {
					found++
				}
			}
		})
	}
	require.Equal(b, b.N, found)
}

// list returns a function that lists a namespace, or all namespaces if it is "".
func (r *readers) list(b *testing.B) func(namespace string, of labels.Selector) ([]*corev1.Pod, error) {
	switch s := r.started(b).(type) {
	case shared:
		return func(namespace string, of labels.Selector) ([]*corev1.Pod, error) {
			if namespace == "" {
				return s.lister.List(of)
			}
			return s.lister.Pods(namespace).List(of)
		}
	case own[*corev1.Pod]:
		lister := s.Lister()
		return func(namespace string, of labels.Selector) ([]*corev1.Pod, error) {
			if namespace == "" {
				return lister.List(of)
			}
			return lister.Namespace(namespace).List(of)
		}
	}
	panic("unknown kind of informer")
}

// lists lists namespaces in turn by a selector, and checks the number of objects.
func (r *readers) lists(namespaces []string, of labels.Selector, want []int) func(b *testing.B) {
	return func(b *testing.B) {
		list := r.list(b)
		measureAgain(b, func() {
			for i, j := 0, 0; i < b.N; i, j = i+1, after(j, len(namespaces)) {
				pods, err := list(namespaces[j], of)
				if err != nil || len(pods) != want[j] {
					b.Fatal(len(pods), "pods instead of", want[j], err)
				}
			}
		})
	}
}

// ranges ranges over the objects of the namespaces in turn. With client-go's API it lists them.
func (r *readers) ranges(b *testing.B) {
	var in func(namespace string) (found int)
	if s, ok := r.started(b).(own[*corev1.Pod]); ok {
		objects := s.Indexer()
		in = func(namespace string) (found int) {
			for range objects.By(indexer.NamespaceIndex, namespace) {
				found++
			}
			return found
		}
	} else {
		list := r.list(b)
		in = func(namespace string) (found int) {
			pods, _ := list(namespace, labels.Everything())
			for range pods {
				found++
			}
			return found
		}
	}
	measureAgain(b, func() {
		for i, j := 0, 0; i < b.N; i, j = i+1, after(j, len(r.q.namespaces)) {
			if found := in(r.q.namespaces[j]); found != r.q.sizes[j] {
				b.Fatal(found, "pods instead of", r.q.sizes[j])
			}
		}
	})
}

// after returns the index after j of n. After the last one it returns 0.
func after(j, n int) int {
	if j++; j < n {
		return j
	}
	return 0
}
