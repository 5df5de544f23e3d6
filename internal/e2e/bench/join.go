package main

import (
	"errors"
	"fmt"
)

// flowing is how many events a second come while other things are measured.
const flowing = 10_000

// aside is how many of them come before and after it, to be sure of some.
const aside = 100

// joins is work that begins when a handler joins an informer that is synced,
// and ends when it was told all objects. What is compared is the longest that
// an event was on its way to the other handler meanwhile.
func joins(c config) (func(implementation) (contender, error), error) {
	list := podList(c.objects)
	want := tally{adds: len(list.Items)}
	return func(i implementation) (contender, error) {
		return contender{run: func(m *meter) (sample, error) {
			events := &changer{list: list}
			fl := &flow{rate: flowing, next: events.next}
			first, late := newCounter(want), newCounter(want)
			first.each, first.more, late.more = fl.tell, true, true
			f := newFeed(list)
			s, err := launch(newPods(i, f), first)
			if err != nil {
				return sample{}, err
			}
			w, err := s.synced(f.opened)
			if err != nil {
				return sample{}, err
			}
			measured, err := m.section(1, func() error {
				return fl.during(w, func() error {
					if err := errors.Join(fl.pass(aside), s.join(late)); err != nil {
						return err
					}
					_, err := receive(late.added)
					return errors.Join(err, fl.pass(aside))
				})
			})
			measured.value = float64(fl.longest())
			measured.note = fmt.Sprintf("of %s events", group(events.made))
			return measured, errors.Join(err, s.stop())
		}}, nil
	}, nil
}
