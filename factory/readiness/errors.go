package readiness

import "errors"

// ErrNotReady is returned by [Probe.Check], together with each reason.
var ErrNotReady = errors.New("the informers are not ready")
