package factory

import (
	"context"
	"sync"
	"time"
)

const (
	// defaultAtOnce is how many sources are read for the first time at once by default.
	defaultAtOnce = 8
	// patience is how long a source may take for that until another one begins, so that
	// nobody waits for one that is slow.
	patience = 10 * time.Second
)

// gate bounds how many sources are read for the first time at once, those who came first
// first. A nil gate bounds nothing.
type gate chan struct{}

// newGate returns a gate for so many, nil for no bound.
func newGate(atOnce int) gate {
	if atOnce <= 0 {
		return nil
	}
	return make(gate, atOnce)
}

// admission returns what an informer is to be admitted by, nil for nothing.
func (g gate) admission() func(context.Context) (leave func()) {
	if g == nil {
		return nil
	}
	return g.admit
}

// admit waits for its turn. It returns what gives that back, which happens by itself in
// a while, and nil where ctx has ended.
func (g gate) admit(ctx context.Context) (leave func()) {
	select {
	case g <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	giveBack := sync.OnceFunc(func() { <-g })
	timer := time.AfterFunc(patience, giveBack)
	return func() {
		timer.Stop()
		giveBack()
	}
}
