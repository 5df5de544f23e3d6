package main

import "errors"

var (
	errNoFiles    = errors.New("the patterns match no Go files")
	errUnread     = errors.New("not all files can be read")
	errUnchanged  = errors.New("nothing is changed")
	errWorkspace  = errors.New("a workspace chooses the versions of all its modules: set GOWORK=off, run migrate in the folder of each module, and then go work use")
	errVendor     = errors.New("it would be out of date: remove it, run migrate, and vendor again")
	errIgnore     = errors.New("it ignores folders, which migrate would change: name the packages, as in $(go list ./...)")
	errReplaced   = errors.New("it is replaced, and tidemark needs a version of its own: remove the replacement")
	errStillThere = errors.New("the program still runs client-go's informers")
)
