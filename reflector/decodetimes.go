package reflector

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// timedEvery: the decoding of one object in timedEvery is timed.
const timedEvery = 64

// DecodeTimes measures how long a reflector takes to decode an object. It times one object in 64,
// and no objects decoded by a client. The zero value measures nothing until Start is called. Methods
// are safe for any goroutine.
type DecodeTimes struct {
	on      atomic.Bool
	sampled atomic.Uint64
	took    atomic.Int64
}

// Start begins to measure, for good.
func (t *DecodeTimes) Start() { t.on.Store(true) }

// Totals returns the number of timed objects, and the time that they took altogether.
func (t *DecodeTimes) Totals() (sampled uint64, took time.Duration) {
	return t.sampled.Load(), time.Duration(t.took.Load())
}

// decodeTimed decodes an object, and times one object in timedEvery if times are wanted.
func (d *kindDecoder) decodeTimed(it item, of *listHead) (runtime.Object, error) {
	if d.times == nil || !d.times.on.Load() || d.decoded.Add(1)%timedEvery != 0 {
		return d.decode(it, of)
	}
	began := time.Now()
	obj, err := d.decode(it, of)
	d.times.took.Add(int64(time.Since(began)))
	d.times.sampled.Add(1)
	return obj, err
}
