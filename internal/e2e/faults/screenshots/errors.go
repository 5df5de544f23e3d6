package main

import "errors"

var (
	errBroken = errors.New("a value that nobody is to read")
	errState  = errors.New("an informer is not in the state that was made")
	errPage   = errors.New("the page is not as it should be")
)
