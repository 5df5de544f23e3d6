package eventage

import "errors"

// ErrNoVersion is returned if a list or a write has no resourceVersion, as with some fake
// clients.
var ErrNoVersion = errors.New("the server's answer has no resourceVersion")
