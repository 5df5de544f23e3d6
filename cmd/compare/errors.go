package main

import "errors"

var (
	errUsage       = errors.New("compare -h lists the flags")
	errNoTerminal  = errors.New("there is no terminal to ask on: add --yes to go ahead without the question; compare -h lists the flags")
	errDeclined    = errors.New("nothing was measured, as you wished")
	errInterrupted = errors.New("interrupted")
	errNothingLeft = errors.New("none of the kinds may be listed and watched")
	errUnmeasured  = errors.New("processes are measured on Linux and macOS only")
	errUnknownKind = errors.New("the server has no such kind")
	errNotWatched  = errors.New("the server does not let it be watched")
	errStuck       = errors.New("nothing came for a minute")
	errDiffer      = errors.New("the two sides did not see the same")
)
