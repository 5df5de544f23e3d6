package deltafifo

import "errors"

// ErrClosed is the error of [DeltaFIFO.Push] and [DeltaFIFO.Drain] after [DeltaFIFO.Close].
var ErrClosed = errors.New("the queue is closed")
