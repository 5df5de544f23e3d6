package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
)

func TestFlowKeepsItsRateAndWaitsForWhatItSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flow{rate: 1000, next: func() watch.Event { return watch.Event{} }}
		w := &feedWatch{events: make(chan watch.Event)}
		go func() {
			for range w.events {
				time.Sleep(500 * time.Microsecond) // the handler's way
				f.tell()
			}
		}()
		require.NoError(t, f.during(w, func() error { time.Sleep(time.Second); return nil }))
		require.InDelta(t, 1000, len(f.sent), 2)
		require.Len(t, f.told, len(f.sent))
		require.Equal(t, 500*time.Microsecond, f.longest())
		f.forget()
		require.Zero(t, f.longest())
		w.Stop()
	})
}
