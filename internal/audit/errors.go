package audit

import "errors"

var errNoVersion = errors.New("audit: the source does not list at the store's version")
