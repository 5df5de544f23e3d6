package main

import "errors"

// readers is how many goroutines read at the same time.
const readers = 2

func contended(r reading) func(config) (func(implementation) (contender, error), error) {
	return contendedOf(newPods, r)
}

// contendedOf is the work of reading a store by two goroutines while a writer changes
// it at an even rate. A read's cost is that of one goroutine.
func contendedOf(make maker, r reading) func(config) (func(implementation) (contender, error), error) {
	return func(c config) (func(implementation) (contender, error), error) {
		list := podList(c.objects)
		q, err := newQuestions(list)
		return func(i implementation) (contender, error) {
			events := &changer{list: list}
			fl := &flow{rate: flowing, next: events.next}
			told := newCounter(tally{adds: len(list.Items)})
			told.each, told.more = fl.tell, true
			f := newFeed(list)
			s, err := launch(make(i, f), told)
			if err != nil {
				return contender{}, err
			}
			w, err := s.synced(f.opened)
			if err != nil {
				return contender{}, err
			}
			do := repeated(together(r.of(s, q)))
			run := func(m *meter) (measured sample, err error) {
				fl.forget()
				err = fl.during(w, func() (err error) {
					measured, err = do(m)
					return err
				})
				return measured, err
			}
			return contender{run: run, stop: s.stop}, nil
		}, err
	}
}

// together reads by several goroutines, each so often.
func together(do read) read {
	return func(n int) (err error) {
		ended := make(chan error, readers)
		for range readers {
			go func() { ended <- do(n) }()
		}
		for range readers {
			err = errors.Join(err, <-ended)
		}
		return err
	}
}
