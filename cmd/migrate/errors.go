package main

import "errors"

var (
	errNoFiles    = errors.New("the patterns match no Go files")
	errStillThere = errors.New("client-go's informers are still run")
)
