package reflector

import (
	"time"

	"github.com/tidemark-k8s/tidemark/reflector/internal/wire"
)

// DecodeTimes measures how long a reflector takes to decode an object. It times one object in 64,
// and no objects decoded by a client. The zero value measures nothing until Start is called. Methods
// are safe for any goroutine.
type DecodeTimes struct{ times wire.Times }

// Start begins to measure, for good.
func (t *DecodeTimes) Start() { t.times.Start() }

// Totals returns the number of timed objects, and the time that they took altogether.
func (t *DecodeTimes) Totals() (sampled uint64, took time.Duration) { return t.times.Totals() }
