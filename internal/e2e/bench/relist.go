package main

import "errors"

// oneIn is how many objects there are for each that has changed in a relist.
const oneIn = 100

// relists is work that begins when an informer learns that it has to list
// again, and ends when its handler was told the difference; client-go tells all.
// What is compared is the CPU time, since client-go waits before it lists.
func relists(c config) (func(implementation) (contender, error), error) {
	list := podList(c.objects)
	next, changed := later(list, oneIn)
	return func(i implementation) (contender, error) {
		want := tally{adds: len(list.Items), updates: changed}
		if i == clientgo {
			want.updates = len(list.Items)
		}
		return contender{run: func(m *meter) (sample, error) {
			f := newFeed(list)
			s, err := start(i, f, 1, want)
			if err != nil {
				return sample{}, err
			}
			w, err := s.synced(f.opened)
			if err != nil {
				return sample{}, err
			}
			f.answer(next)
			measured, err := m.section(1, func() error {
				w.expire()
				return s.updated()
			})
			_, again := receive(f.opened) // before it stops: it is about to ask
			measured.value = measured.cpu
			return measured, errors.Join(err, again, s.stop())
		}}, nil
	}, nil
}
