package main

import "errors"

var (
	errUsage       = errors.New("compare -h lists the flags")
	errNoTerminal  = errors.New("there is no terminal for the question: add --yes to begin without it; compare -h lists the flags")
	errDeclined    = errors.New("nothing was measured, because the answer was no")
	errInterrupted = errors.New("interrupted")
	errNothingLeft = errors.New("none of the kinds can be measured")
	errUnmeasured  = errors.New("processes are measured on Linux and macOS only")
	errUnknownKind = errors.New("the server has no such kind")
	errNotWatched  = errors.New("the server does not allow a watch")
	errStuck       = errors.New("no data arrived for a minute")
	errDiffer      = errors.New("the two libraries did not see the same objects and events")
)
