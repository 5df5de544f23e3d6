package main

// syncs is work that begins with an informer that is yet to be made, and ends
// when its handler was told all objects of the first list.
func syncs(c config) (func(implementation) (contender, error), error) {
	list := podList(c.objects)
	return func(i implementation) (contender, error) {
		return contender{run: func(m *meter) (sample, error) {
			var s *started
			measured, err := m.section(1, func() (err error) {
				if s, err = start(i, newFeed(list), 1, tally{adds: len(list.Items)}); err != nil {
					return err
				}
				return s.all(s.added)
			})
			if err != nil {
				return sample{}, err
			}
			return measured, s.stop()
		}}, nil
	}, nil
}
