package deltafifo

import "errors"

// ErrClosed is returned by [Queue.Push] and [Queue.Drain] after [Queue.Close].
var ErrClosed = errors.New("the queue is closed")
