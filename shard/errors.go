package shard

import "errors"

// The errors of this package. Test for them with errors.Is. Each message has the refused value.
var (
	// ErrField means that a field is neither ByUID nor ByNamespace, or that a share has none.
	ErrField = errors.New("a share is by uid or by namespace")
	// ErrRange means that a range does not begin before its end.
	ErrRange = errors.New("a range of hashes begins before its end")
	// ErrNth means that a share is not one of 0/N to N-1/N.
	ErrNth = errors.New("the shares of N replicas are 0/N to N-1/N")
)
