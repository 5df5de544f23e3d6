package main

import "errors"

var (
	errNoFiles    = errors.New("the patterns match no Go files")
	errUnread     = errors.New("not all files can be read")
	errStillThere = errors.New("the program still runs client-go's informers")
)
