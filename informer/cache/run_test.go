package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

var errPoison = errors.New("poison")

// runInBackground runs a function until stop is called or the test ends.
func runInBackground(t *testing.T, run func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { run(ctx) })
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}
