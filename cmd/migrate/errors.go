package main

import "errors"

var (
	errNoFiles    = errors.New("the patterns match no Go files")
	errStillThere = errors.New("the program still runs client-go's informers")
)
