package main

import "errors"

var (
	errBroken = errors.New("a secret value")
	errState  = errors.New("an informer is not in its intended state")
	errPage   = errors.New("the page is wrong")
)
