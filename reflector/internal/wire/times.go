package wire

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// timedEvery: the decoding of one object in timedEvery is timed.
const timedEvery = 64

// Times are how long the objects took to decode of which one in 64 was timed. The zero value times
// nothing until Start is called. Methods are safe for any goroutine.
type Times struct {
	on      atomic.Bool
	sampled atomic.Uint64
	took    atomic.Int64
}

// Start begins to measure, for good.
func (t *Times) Start() { t.on.Store(true) }

// Totals returns the number of timed objects, and the time that they took altogether.
func (t *Times) Totals() (sampled uint64, took time.Duration) {
	return t.sampled.Load(), time.Duration(t.took.Load())
}

// decodeTimed decodes an object, and times one object in timedEvery if times are wanted.
func (d *Decoder) decodeTimed(it item, of *ListHead) (runtime.Object, error) {
	if d.Times == nil || !d.Times.on.Load() || d.decoded.Add(1)%timedEvery != 0 {
		return d.decode(it, of)
	}
	began := time.Now()
	obj, err := d.decode(it, of)
	d.Times.took.Add(int64(time.Since(began)))
	d.Times.sampled.Add(1)
	return obj, err
}
