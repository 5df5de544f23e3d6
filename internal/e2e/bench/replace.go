package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	tidecache "github.com/tidemark-k8s/tidemark/informer/cache"
)

// inRow is how many times a store is replaced in one run.
const inRow = 5

// replaces is the work of getting objects while all of them are replaced by
// newer ones. The stores are bare ones of which Replace is called; tidemark's
// native store has none, so there it is an informer that lists again.
func replaces(c config) (func(implementation) (contender, error), error) {
	first := podList(c.objects)
	second, _ := later(first, 1)
	q, err := newQuestions(first)
	r := &replacement{lists: [2]*corev1.PodList{first, second}, questions: q}
	for n, list := range r.lists {
		for i := range list.Items {
			r.objects[n] = append(r.objects[n], &list.Items[i])
		}
	}
	return func(i implementation) (contender, error) {
		switch i {
		case clientgo:
			return r.ofStore(cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace()))
		case face:
			return r.ofStore(tidecache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace()))
		default:
			return contender{run: r.relists}, nil
		}
	}, err
}

// replacement is two states of one store.
type replacement struct {
	lists     [2]*corev1.PodList
	objects   [2][]any // the items of the lists
	questions *questions
}

// ofStore replaces the objects of a store, by those of the other state.
func (r *replacement) ofStore(store cache.Store) (contender, error) {
	keys := r.questions.spelled
	get := func(i int) error {
		_, ok, err := store.GetByKey(keys[i%len(keys)])
		return found(ok, err)
	}
	state := 0
	replace := func() error {
		state = 1 - state
		return store.Replace(r.objects[state], r.lists[state].ResourceVersion)
	}
	return contender{run: func(m *meter) (sample, error) {
		var runs sampled
		for range inRow {
			if err := runs.add(m, get, replace); err != nil {
				return sample{}, err
			}
		}
		return runs.sample(), nil
	}}, replace()
}

// relists makes informers of the first state list the second. Each does it
// once: an informer that has to do it again soon waits before it does.
func (r *replacement) relists(m *meter) (sample, error) {
	var runs sampled
	for range inRow {
		if err := r.relist(m, &runs); err != nil {
			return sample{}, err
		}
	}
	return runs.sample(), nil
}

func (r *replacement) relist(m *meter, runs *sampled) error {
	n := len(r.objects[0])
	f := newFeed(r.lists[0])
	s, err := start(native, f, 1, tally{adds: n, updates: n})
	if err != nil {
		return err
	}
	w, err := s.synced(f.opened)
	if err != nil {
		return err
	}
	pods := s.subject.(own[*corev1.Pod])
	store, keys := pods.Indexer(), r.questions.keys
	get := func(i int) error {
		_, ok := store.Get(keys[i%len(keys)])
		return found(ok, nil)
	}
	f.answer(r.lists[1])
	err = runs.add(m, get, func() error {
		w.expire()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return pods.WaitVersion(ctx, r.lists[1].ResourceVersion)
	})
	if err != nil {
		return err
	}
	if err := s.updated(); err != nil {
		return err
	}
	return s.stop()
}

func found(ok bool, err error) error {
	if err == nil && !ok {
		err = errMissing
	}
	return err
}

// sampled is what some sections came to in which calls were sampled.
type sampled struct {
	sections []sample
	calls    latencies
}

func (s *sampled) add(m *meter, call func(int) error, work func() error) error {
	section, err := m.section(1, func() error {
		calls, err := sampleWhile(call, work)
		s.calls = append(s.calls, calls...)
		return err
	})
	s.sections = append(s.sections, section)
	return err
}

// sample is the median section, with the p99 of all calls for a value.
func (s *sampled) sample() sample {
	slices.Sort(s.calls)
	all := median(s.sections)
	all.value = float64(s.calls.quantile(0.99))
	all.note = fmt.Sprintf("p50 %s, max %s", duration(float64(s.calls.quantile(0.5))), duration(float64(s.calls.quantile(1))))
	return all
}
