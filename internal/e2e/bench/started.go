package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// started is an informer that runs.
type started struct {
	subject
	counters []*counter
	cancel   context.CancelFunc
	ended    chan error
}

// start runs an informer of pods with some handlers that expect the same.
func start(i implementation, from origin, handlers int, want tally) (*started, error) {
	return launch(newPods(i, from), counters(handlers, want)...)
}

func counters(n int, want tally) []*counter {
	all := make([]*counter, n)
	for i := range all {
		all[i] = newCounter(want)
	}
	return all
}

// launch runs an informer with some handlers.
func launch(informer subject, handlers ...*counter) (*started, error) {
	s := &started{subject: informer, ended: make(chan error, 1)}
	for _, c := range handlers {
		if err := s.join(c); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() { s.ended <- s.run(ctx) }()
	return s, nil
}

// join adds a handler.
func (s *started) join(c *counter) error {
	s.counters = append(s.counters, c)
	return s.handle(c)
}

// patience is how long anything may take that is waited for.
const patience = 5 * time.Minute

var errPatience = fmt.Errorf("nothing happens for %v", patience)

// told waits until each handler was told all adds that it should be.
func (s *started) told() error {
	for _, c := range s.counters {
		if c.want.adds == 0 {
			continue
		}
		if _, err := receive(c.added); err != nil {
			return err
		}
	}
	return nil
}

// updated waits until each handler was told all updates that it should be.
func (s *started) updated() error {
	for _, c := range s.counters {
		if c.want.updates == 0 {
			continue
		}
		if _, err := receive(c.updated); err != nil {
			return err
		}
	}
	return nil
}

// synced waits until each handler was told the initial state, and for the watch
// that the informer asks for then.
func (s *started) synced(opened <-chan *feedWatch) (*feedWatch, error) {
	if err := s.told(); err != nil {
		return nil, err
	}
	return receive(opened)
}

// receive waits for a value.
func receive[T any](from <-chan T) (v T, err error) {
	select {
	case v = <-from:
		return v, nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v = <-from:
		return v, nil
	case <-timer.C:
		return v, errPatience
	}
}

// stop ends the informer, waits for its end, and tells whether the handlers
// were told what they should be, no less and no more.
func (s *started) stop() error {
	s.cancel()
	_, err := receive(s.ended)
	for _, c := range s.counters {
		err = errors.Join(err, c.check())
	}
	return err
}
