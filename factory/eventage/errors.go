package eventage

import "errors"

// ErrNoVersion is what is returned where a list or a write tells no resourceVersion, as those
// of some fakes do not.
var ErrNoVersion = errors.New("the server has told no resourceVersion")
