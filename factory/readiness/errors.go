package readiness

import "errors"

// ErrNotReady is what [Probe.Check] returns, with each reason.
var ErrNotReady = errors.New("the informers are not ready")
