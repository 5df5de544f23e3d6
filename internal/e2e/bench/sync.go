package main

import (
	"errors"

	"github.com/tidemark-k8s/tidemark/indexer"
)

// syncs is work that begins with an informer that is yet to be made, and ends
// when its handler was told all objects of the first list.
func syncs(c config) (func(implementation) (contender, error), error) { return syncing(c, 1) }

// syncsEach is syncs with the costs told for each object.
func syncsEach(c config) (func(implementation) (contender, error), error) {
	return syncing(c, c.objects)
}

func syncing(c config, ops int) (func(implementation) (contender, error), error) {
	list := podList(c.objects)
	return func(i implementation) (contender, error) {
		return contender{run: func(m *meter) (sample, error) {
			var s *started
			measured, err := m.section(ops, func() (err error) {
				if s, err = start(i, newFeed(list), 1, tally{adds: len(list.Items)}); err != nil {
					return err
				}
				return s.told()
			})
			if err != nil {
				return sample{}, err
			}
			item := &list.Items[0]
			if s.get(indexer.Key{Namespace: item.Namespace, Name: item.Name}) == any(item) {
				err = errPinned
			}
			return measured, errors.Join(err, s.stop())
		}}, nil
	}, nil
}
