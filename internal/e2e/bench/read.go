package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// A read reads a store n times.
type read func(n int) error

// reading says how to read the store of either kind of informer.
type reading struct {
	shared func(shared, *questions) read
	own    func(own[*corev1.Pod], *questions) read
}

// of is how to read what an informer holds.
func (r reading) of(s *started, q *questions) read {
	if pods, ok := s.subject.(own[*corev1.Pod]); ok {
		return r.own(pods, q)
	}
	return r.shared(s.subject.(shared), q)
}

// questions is what a store can be asked, and what the answer must be.
type questions struct {
	keys       []indexer.Key
	spelled    []string // the keys as client-go spells them
	namespaces []string
	sizes      []int // how many objects each of the namespaces has
	selector   labels.Selector
	selected   int
	operators  labels.Selector
	operated   int
	operatedIn []int // how many objects of each of the namespaces
	objects    int
}

// operators is a selector with all operators but equality.
const operators = "app in (x,app-001),tier notin (frontend,cache),pod-template-hash"

// newQuestions makes questions about a list, in random order. The strings are
// not the objects' own: nobody finds them equal by their address.
func newQuestions(list *corev1.PodList) (*questions, error) {
	q := &questions{objects: len(list.Items), selector: labels.SelectorFromSet(labels.Set{"app": "x"})}
	var err error
	if q.operators, err = labels.Parse(operators); err != nil {
		return nil, err
	}
	at := make(map[string]int) // where a namespace stands
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(list.Items)) {
		p := &list.Items[i]
		key := indexer.Key{Namespace: strings.Clone(p.Namespace), Name: strings.Clone(p.Name)}
		q.keys = append(q.keys, key)
		q.spelled = append(q.spelled, key.String())
		if _, ok := at[p.Namespace]; !ok {
			at[p.Namespace] = len(q.namespaces)
			q.namespaces, q.sizes, q.operatedIn = append(q.namespaces, key.Namespace), append(q.sizes, 0), append(q.operatedIn, 0)
		}
		q.sizes[at[p.Namespace]]++
		if q.operators.Matches(labels.Set(p.Labels)) {
			q.operated++
			q.operatedIn[at[p.Namespace]]++
		}
		if q.selector.Matches(labels.Set(p.Labels)) {
			q.selected++
		}
	}
	return q, nil
}

// reads is the work of reading a store at rest, by one goroutine.
func reads(r reading) func(config) (func(implementation) (contender, error), error) {
	return readsOf(newPods, r)
}

// readsOf is [reads], of informers that are made somehow.
func readsOf(make maker, r reading) func(config) (func(implementation) (contender, error), error) {
	return func(c config) (func(implementation) (contender, error), error) {
		list := podList(c.objects)
		q, err := newQuestions(list)
		return func(i implementation) (contender, error) {
			f := newFeed(list)
			s, err := launch(make(i, f), counters(1, tally{adds: len(list.Items)})...)
			if err != nil {
				return contender{}, err
			}
			if _, err := s.synced(f.opened); err != nil {
				return contender{}, err
			}
			f.answer(nil) // the informer has its copies
			return contender{run: repeated(r.of(s, q)), stop: s.stop}, nil
		}, err
	}
}

// repeated is a run that reads as often as takes long enough to be measured.
func repeated(do read) func(*meter) (sample, error) {
	n := 0
	return func(m *meter) (sample, error) {
		if n == 0 {
			var err error
			if n, err = enough(do, m.atLeast); err != nil {
				return sample{}, err
			}
		}
		return m.section(n, func() error { return do(n) })
	}
}

// enough finds out how many reads take so long. The one before them builds what
// is built on first use, which would be taken for the time of all.
func enough(do read, atLeast time.Duration) (n int, err error) {
	if err := do(1); err != nil {
		return 0, err
	}
	for n = 1; ; n *= 2 {
		start := time.Now()
		if err := do(n); err != nil || time.Since(start) >= atLeast {
			return n, err
		}
	}
}

// after is what comes after place j of n, over and over.
func after(j, n int) int {
	if j++; j < n {
		return j
	}
	return 0
}

// wrong is the error for a read that found another number of objects.
func wrong(found, want int, err error) error {
	if err == nil && found != want {
		err = fmt.Errorf("found %d objects instead of %d", found, want)
	}
	return err
}
