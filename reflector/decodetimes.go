package reflector

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// timedEvery is of how many objects one is timed.
const timedEvery = 64

// DecodeTimes are how long objects took to decode, of those that a reflector decodes itself:
// one in 64 is timed. The zero value measures nothing until Start is called. Methods are safe
// for any goroutine.
type DecodeTimes struct {
	on      atomic.Bool
	sampled atomic.Uint64
	took    atomic.Int64
}

// Start begins to measure, for good.
func (t *DecodeTimes) Start() { t.on.Store(true) }

// Totals returns how many objects were timed, and how long these took altogether.
func (t *DecodeTimes) Totals() (sampled uint64, took time.Duration) {
	return t.sampled.Load(), time.Duration(t.took.Load())
}

// decodeTimed is decode, timed now and then where somebody wants to know.
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
