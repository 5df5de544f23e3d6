package deltafifo

import "errors"

// ErrClosed is returned by [DeltaFIFO.Push] and [DeltaFIFO.Drain] after [DeltaFIFO.Close].
var ErrClosed = errors.New("the queue is closed")
