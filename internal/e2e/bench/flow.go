package main

import (
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// flow is events that are sent at an even rate, and when they were sent and
// told to one handler.
type flow struct {
	rate int // a second
	next func() watch.Event

	mu         sync.Mutex
	sent, told []time.Time
	await      int           // how many have to be told
	reached    chan struct{} // is closed then; nil if nobody waits
}

// tell notes that the handler was told one more.
func (f *flow) tell() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.told = append(f.told, time.Now())
	if f.reached != nil && len(f.told) >= f.await {
		close(f.reached)
		f.reached = nil
	}
}

func (f *flow) send(to *feedWatch) {
	f.mu.Lock()
	e := f.next()
	f.sent = append(f.sent, time.Now())
	f.mu.Unlock()
	to.events <- e
}

// during sends events for as long as work takes, and returns when the handler
// was told all of them.
func (f *flow) during(to *feedWatch, work func() error) error {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		f.flow(to, stop)
	}()
	err := work()
	close(stop)
	<-ended
	return errors.Join(err, f.wait())
}

// flow keeps to the rate on the whole: what a late wake-up has missed is sent
// at once.
func (f *flow) flow(to *feedWatch, stop <-chan struct{}) {
	start, sent := time.Now(), 0
	for {
		for due := int(time.Since(start).Seconds() * float64(f.rate)); sent <= due; sent++ {
			f.send(to)
		}
		select {
		case <-stop:
			return
		case <-time.After(pace):
		}
	}
}

// wait waits until the handler was told all that was sent.
func (f *flow) wait() error { return f.pass(0) }

// pass waits until the handler was told all that was sent, and some more.
func (f *flow) pass(more int) error {
	f.mu.Lock()
	f.await = len(f.sent) + more
	if len(f.told) >= f.await {
		f.mu.Unlock()
		return nil
	}
	reached := make(chan struct{})
	f.reached = reached
	f.mu.Unlock()
	_, err := receive(reached)
	return err
}

// longest is how long the handler waited for an event, at most.
func (f *flow) longest() (longest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for i, told := range f.told {
		longest = max(longest, told.Sub(f.sent[i]))
	}
	return longest
}

// forget starts anew.
func (f *flow) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.sent, f.told = f.sent[:0], f.told[:0]
}
