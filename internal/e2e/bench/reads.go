package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// The readings. Each is a loop of its own, so that what is measured is the
// call that a user would write.

// getByLister gets some of the objects in turn, or all if there are no more.
func getByLister(some int) reading {
	return reading{
		shared: func(s shared, q *questions) read {
			lister, keys := s.lister(), q.keys[:min(some, len(q.keys))]
			return func(n int) error {
				for i, j := 0, 0; i < n; i, j = i+1, after(j, len(keys)) {
					key := &keys[j]
					if _, err := lister.Pods(key.Namespace).Get(key.Name); err != nil {
						return err
					}
				}
				return nil
			}
		},
		own: func(s own[*corev1.Pod], q *questions) read {
			lister, keys := s.Lister(), q.keys[:min(some, len(q.keys))]
			return func(n int) error {
				for i, j := 0, 0; i < n; i, j = i+1, after(j, len(keys)) {
					key := &keys[j]
					if _, err := lister.Namespace(key.Namespace).Get(key.Name); err != nil {
						return err
					}
				}
				return nil
			}
		},
	}
}

var getByKey = reading{
	shared: func(s shared, q *questions) read {
		indexer := s.GetIndexer()
		return func(n int) error {
			found := 0
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.spelled)) {
				if _, ok, err := indexer.GetByKey(q.spelled[j]); ok && err == nil {
					found++
				}
			}
			return wrong(found, n, nil)
		}
	},
	own: func(s own[*corev1.Pod], q *questions) read {
		indexer := s.Indexer()
		return func(n int) error {
			found := 0
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.keys)) {
				if _, ok := indexer.Get(q.keys[j]); ok {
					found++
				}
			}
			return wrong(found, n, nil)
		}
	},
}

var listNamespace = reading{
	shared: func(s shared, q *questions) read {
		lister := s.lister()
		return func(n int) error {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.namespaces)) {
				pods, err := lister.Pods(q.namespaces[j]).List(labels.Everything())
				if err := wrong(len(pods), q.sizes[j], err); err != nil {
					return err
				}
			}
			return nil
		}
	},
	own: func(s own[*corev1.Pod], q *questions) read {
		lister := s.Lister()
		return func(n int) error {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.namespaces)) {
				pods, err := lister.Namespace(q.namespaces[j]).List(labels.Everything())
				if err := wrong(len(pods), q.sizes[j], err); err != nil {
					return err
				}
			}
			return nil
		}
	},
}

var listSelector = reading{
	shared: func(s shared, q *questions) read {
		lister := s.lister()
		return func(n int) error {
			for range n {
				pods, err := lister.List(q.selector)
				if err := wrong(len(pods), q.selected, err); err != nil {
					return err
				}
			}
			return nil
		}
	},
	own: func(s own[*corev1.Pod], q *questions) read {
		lister := s.Lister()
		return func(n int) error {
			for range n {
				pods, err := lister.List(q.selector)
				if err := wrong(len(pods), q.selected, err); err != nil {
					return err
				}
			}
			return nil
		}
	},
}

var listAll = reading{
	shared: func(s shared, q *questions) read {
		lister := s.lister()
		return func(n int) error {
			for range n {
				pods, err := lister.List(labels.Everything())
				if err := wrong(len(pods), q.objects, err); err != nil {
					return err
				}
			}
			return nil
		}
	},
	own: func(s own[*corev1.Pod], q *questions) read {
		lister := s.Lister()
		return func(n int) error {
			for range n {
				pods, err := lister.List(labels.Everything())
				if err := wrong(len(pods), q.objects, err); err != nil {
					return err
				}
			}
			return nil
		}
	},
}

var rangeNamespace = reading{
	shared: func(s shared, q *questions) read {
		lister := s.lister()
		return func(n int) error {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.namespaces)) {
				pods, err := lister.Pods(q.namespaces[j]).List(labels.Everything())
				found := 0
				for range pods {
					found++
				}
				if err := wrong(found, q.sizes[j], err); err != nil {
					return err
				}
			}
			return nil
		}
	},
	own: func(s own[*corev1.Pod], q *questions) read {
		objects := s.Indexer()
		return func(n int) error {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.namespaces)) {
				found := 0
				for range objects.By(indexer.NamespaceIndex, q.namespaces[j]) {
					found++
				}
				if err := wrong(found, q.sizes[j], nil); err != nil {
					return err
				}
			}
			return nil
		}
	},
}

var listOperators = reading{
	shared: func(s shared, q *questions) read {
		lister := s.lister()
		return func(n int) error {
			for range n {
				pods, err := lister.List(q.operators)
				if err := wrong(len(pods), q.operated, err); err != nil {
					return err
				}
			}
			return nil
		}
	},
	own: func(s own[*corev1.Pod], q *questions) read {
		lister := s.Lister()
		return func(n int) error {
			for range n {
				pods, err := lister.List(q.operators)
				if err := wrong(len(pods), q.operated, err); err != nil {
					return err
				}
			}
			return nil
		}
	},
}

var listOperatorsNamespace = reading{
	shared: func(s shared, q *questions) read {
		lister := s.lister()
		return func(n int) error {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.namespaces)) {
				pods, err := lister.Pods(q.namespaces[j]).List(q.operators)
				if err := wrong(len(pods), q.operatedIn[j], err); err != nil {
					return err
				}
			}
			return nil
		}
	},
	own: func(s own[*corev1.Pod], q *questions) read {
		lister := s.Lister()
		return func(n int) error {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.namespaces)) {
				pods, err := lister.Namespace(q.namespaces[j]).List(q.operators)
				if err := wrong(len(pods), q.operatedIn[j], err); err != nil {
					return err
				}
			}
			return nil
		}
	},
}
