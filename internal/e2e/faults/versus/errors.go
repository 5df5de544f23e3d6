package main

import "errors"

var (
	errReadmePartly = errors.New("-readme takes the whole table, without -only, -unique and profiles")
	errTooLong      = errors.New("it takes more than 5 minutes")
	errKept         = errors.New("objects have managedFields that were to be dropped")
)
