package main

import "k8s.io/apimachinery/pkg/labels"

// The readings. Each is a loop of its own, so that what is measured is the
// call that a user would write.

var getByLister = reading{
	shared: func(s shared, q *questions) read {
		lister := s.lister()
		return func(n int) error {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.keys)) {
				key := &q.keys[j]
				if _, err := lister.Pods(key.Namespace).Get(key.Name); err != nil {
					return err
				}
			}
			return nil
		}
	},
	own: func(s own, q *questions) read {
		lister := s.Lister()
		return func(n int) error {
			for i, j := 0, 0; i < n; i, j = i+1, after(j, len(q.keys)) {
				key := &q.keys[j]
				if _, err := lister.Namespace(key.Namespace).Get(key.Name); err != nil {
					return err
				}
			}
			return nil
		}
	},
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
	own: func(s own, q *questions) read {
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
	own: func(s own, q *questions) read {
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
	own: func(s own, q *questions) read {
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
	own: func(s own, q *questions) read {
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
